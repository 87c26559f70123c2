package instance_test

import (
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// BenchmarkStep decides and folds one report of an instance with many moves and
// heartbeats. A move copies the names of the newest states, and nothing else of the
// history.
func BenchmarkStep(b *testing.B) {
	def := issue(b, "max_iterations: 1000000")
	for _, past := range []struct{ moves, beats int }{{8, 0}, {8, 1000}, {1000, 0}} {
		b.Run(fmt.Sprintf("after %d moves and %d heartbeats", past.moves, past.beats), func(b *testing.B) {
			s := given(b, def, opened(), moveTo("implementing"))
			for n := 0; s.in.Iteration < past.moves; n++ {
				r := instance.Result{Status: instance.Success, ConfidenceScore: 0.95, Head: fmt.Sprint("c", n)}
				if s.in.State == "running_tests" {
					r = instance.Result{Status: instance.Failure, FailureSignature: fmt.Sprint("f", n),
						Evidence: []instance.Evidence{{Name: "tests", Commit: s.in.Head}}}
				}
				if err := works(r)(s); err != nil {
					b.Fatal(err)
				}
			}
			if err := claim("a1")(s); err != nil {
				b.Fatal(err)
			}
			for range past.beats {
				if err := do(instance.Heartbeat{Token: s.in.Tokens, Lease: lease})(s); err != nil {
					b.Fatal(err)
				}
			}
			cmd := s.command("a1", instance.Report{Token: s.in.Tokens, Result: instance.Result{Status: instance.Success, ConfidenceScore: 0.95,
				Head: "next"}})
			b.ReportAllocs()
			for b.Loop() {
				events, err := instance.Decide(def, s.in, cmd)
				if err != nil {
					b.Fatal(err)
				}
				instance.Evolve(s.in, instance.Commit{Seq: s.in.Seq + 1, ID: cmd.ID, At: cmd.At, Events: events})
			}
		})
	}
}
