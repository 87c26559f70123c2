package crashtest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
)

// maxEnvs is how many environments run at a time. Each mostly waits for git and disk.
const maxEnvs = 2

// faultCase is a scenario with a fault.
type faultCase struct {
	Scenario
	calls []Call
	at    FaultAt
}

// CrashAtEachCall runs each scenario once for each fault of each of its calls. Faults
// without an effect, and those equivalent to another one, are only run if
// SIGNALBOX_CRASH is set, as `make crash` does: each takes a second.
func CrashAtEachCall(t *testing.T, of Service, scenes ...Scenario) {
	t.Helper()
	t.Parallel()
	first := NewEnv(t, of)
	parts := listCases(t, first, scenes, func(sc Scenario, calls []Call) []FaultAt {
		if os.Getenv("SIGNALBOX_CRASH") != "" {
			return FaultPoints(calls, true, !sc.ReadsOptional)
		}
		return slices.DeleteFunc(FaultPoints(calls, false, false), func(p FaultAt) bool { return p.Fault == LoseRequest })
	})
	runCases(t, first, parts, Scenario.runWithFault)
}

// FindFaults runs a scenario as CrashAtEachCall and StallAtEachWrite do, in one
// environment, and returns the failures.
func FindFaults(t *testing.T, of Service, sc Scenario) (wrong []error) {
	t.Helper()
	s := NewEnv(t, of)
	all := func(sc Scenario, calls []Call) []FaultAt {
		return append(FaultPoints(calls, false, true), writePoints(sc, calls)...)
	}
	for _, p := range listCases(t, s, []Scenario{sc}, all) {
		play := sc.runWithFault
		if p.at.Fault == Stall {
			play = sc.runWithStall
		}
		if err := play(s, p.at); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", p.at.Describe(p.calls), err))
		}
	}
	return wrong
}

func listCases(t *testing.T, on *Env, scenes []Scenario, points func(Scenario, []Call) []FaultAt) (all []faultCase) {
	t.Helper()
	for _, sc := range scenes {
		calls, err := sc.recordCalls(on)
		if err != nil {
			t.Fatalf("%s, without a fault: %v", sc.Name, err)
		}
		t.Logf("%s", sc.Name)
		for n, c := range calls {
			t.Logf("%3d %s", n+1, c.Name)
		}
		for _, at := range points(sc, calls) {
			all = append(all, faultCase{sc, calls, at})
		}
	}
	return all
}

// runCases runs the cases in a few environments, beginning with the given one, and
// reports each that fails.
func runCases(t *testing.T, first *Env, parts []faultCase, play func(Scenario, *Env, FaultAt) error) {
	t.Helper()
	queue := make(chan faultCase, len(parts))
	for _, p := range parts {
		queue <- p
	}
	close(queue)
	for n := range min(maxEnvs, len(parts)) {
		t.Run(fmt.Sprintf("env %d", n+1), func(t *testing.T) {
			t.Parallel()
			s := first.withTB(t)
			if n > 0 {
				s = NewEnv(t, first.Service)
			}
			for p := range queue {
				if err := s.withTimeout(func() error { return play(p.Scenario, s, p.at) }); err != nil {
					t.Errorf("%s, %s: %v", p.Name, p.at.Describe(p.calls), err)
				}
			}
		})
	}
}

// withTimeout runs a case with its own timeout.
func (s *Env) withTimeout(play func() error) error {
	all := s.Ctx
	defer func() { s.Ctx = all }()
	var done context.CancelFunc
	s.Ctx, done = context.WithTimeout(all, caseTimeout)
	defer done()
	return play()
}

// withTB returns the same environment for a subtest.
func (s *Env) withTB(t testing.TB) *Env {
	other := *s
	other.TB = t
	return &other
}
