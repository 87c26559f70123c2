package whatif_test

import (
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/whatif"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// world is what agents and people do with one instance. It depends on the state, and on how often
// the instance was there, and so it is the same under all rules.
type world int

// draw returns a number below n.
func (w world) draw(in instance.Instance, what string, n uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, int(w), in.State, in.Visited(in.State), what)
	return h.Sum64() % n
}

// live brings an instance to its end, or for 40 commands, under a definition.
func (w world) live(t *testing.T, def *workflow.Definition) *record {
	t.Helper()
	r := newRecord(t, def)
	r.in.ID = fmt.Sprint("desk/", int(w))
	for len(r.all) < 40 && r.in.Closed == "" {
		if r.in.Kind != workflow.Wait {
			r.step(instance.Result{
				Status:          []instance.Status{instance.Success, instance.Success, instance.Blocked}[w.draw(r.in, "status", 3)],
				ConfidenceScore: float64(w.draw(r.in, "confidence", 11)) / 10, Summary: "x",
			})
			continue
		}
		answered := r.in.EnteredAt.Add(time.Duration(w.draw(r.in, "hours", 48)) * time.Hour)
		if deadline, at, due := instance.Due(def, r.in); due && at.Before(answered) {
			r.now = at
			r.do("orchestrator", instance.Expire{Entered: r.in.Entered, Level: deadline.Level})
			continue
		}
		r.now = answered
		r.do("ann", instance.Signal{Name: "commented", Data: map[string]string{"body": "yes"}})
	}
	return r
}

// path returns the states of a record, in order, up to and including a moment.
func (r *record) path(until time.Time) string {
	states := ""
	for _, c := range r.all {
		if c.At.After(until) {
			break
		}
		for _, e := range c.Events {
			if e, ok := e.(instance.Moved); ok {
				states += " " + e.To
			}
		}
	}
	return states
}

// The answers are held against the same world, run under the other rules: 300 instances, three
// questions.
func TestAnAnswerIsWhatHappensUnderTheOtherRules(t *testing.T) {
	for name, other := range map[string]whatif.Alter{
		"surer":         policy(map[string]any{"sure": 0.9}),
		"fewer tries":   policy(map[string]any{"tries": 2}),
		"nobody asked":  policy(map[string]any{"ask": false}),
		"less patience": text("timeout: 24h", "timeout: 12h"),
	} {
		t.Run(name, func(t *testing.T) {
			def := load(t, desk)
			changed, err := other(def)
			if err != nil {
				t.Fatal(err)
			}
			differ := 0
			for w := range world(300) {
				was, would := w.live(t, def), w.live(t, changed)
				c := was.under(other)
				switch end := time.Now(); {
				case c.Unknown != "":
					t.Errorf("%d: unknown: %s", w, c.Unknown)
				case c.Same() && was.path(end) != would.path(end):
					t.Errorf("%d: the same, but%s is not%s", w, was.path(end), would.path(end))
				case !c.Same():
					differ++
					if got := would.path(c.At); last(got) != c.Instead.State {
						t.Errorf("%d: at %s it is in%s, not %s", w, c.At, got, c.Instead.State)
					}
				}
			}
			if differ < 20 {
				t.Errorf("only %d of 300 differ: this shows little", differ)
			}
		})
	}
}

func last(path string) string {
	var state string
	for s := range strings.FieldsSeq(path) {
		state = s
	}
	return state
}

// BenchmarkLog decides logs of instances with about 20 commits each.
func BenchmarkLog(b *testing.B) {
	t := &testing.T{}
	def := load(b, desk)
	var commits []eventstore.Commit
	for w := range world(2000) {
		for _, c := range w.live(t, def).all {
			data, err := wire.Events(c.Actor, c.Events)
			if err != nil {
				b.Fatal(err)
			}
			commits = append(commits, eventstore.Commit{Seq: uint64(len(commits) + 1), ID: c.ID, Instance: fmt.Sprint("desk/", int(w)), Time: c.At, Data: data})
		}
	}
	b.ResetTimer()
	n := 0
	for n < b.N {
		log := whatif.Start(2, policy(map[string]any{"sure": 0.9}), func(string) (*workflow.Definition, bool) { return def, true }, nil)
		for _, c := range commits[:min(len(commits), b.N-n)] {
			log.Add(c)
		}
		n += len(commits)
		log.End()
	}
}
