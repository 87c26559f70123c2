package crashtest

import (
	"fmt"
	"testing"
)

// StallAtEachWrite runs each scenario once for each call that writes to the forge. The
// instance stalls at that call. Its lease is ended, and another instance does the work.
// Then the first one resumes.
func StallAtEachWrite(t *testing.T, of Service, scenes ...Scenario) {
	t.Helper()
	t.Parallel()
	first := NewEnv(t, of)
	parts := listCases(t, first, scenes, writePoints)
	runCases(t, first, parts, Scenario.runWithStall)
}

// writePoints returns a stall at each call that writes to the forge.
func writePoints(_ Scenario, calls []Call) (all []FaultAt) {
	for n, c := range calls {
		if c.Writes && !c.NATS {
			all = append(all, FaultAt{n + 1, Stall})
		}
	}
	return all
}

// runWithStall runs new work with an instance that stalls at the call, and another one.
func (sc Scenario) runWithStall(s *Env, at FaultAt) error {
	s.Helper()
	id := sc.Begin(s)
	sleeper := s.startInstance(at)
	select {
	case <-sleeper.stalled:
	case <-s.Ctx.Done():
		return fmt.Errorf("the call was never made, but %v", sleeper.Calls())
	}
	s.expireLease(id)
	other := s.startInstance(FaultAt{})
	if err := sc.await(s, other, id); err != nil {
		return err
	}
	sleeper.Resume()
	select {
	case <-sleeper.acked: // it has acknowledged its message, after all its effects
	case <-s.Ctx.Done():
		return fmt.Errorf("the stalled instance does not end, after %v", sleeper.Calls())
	}
	s.stopInstance(other)
	s.stopInstance(sleeper)
	err := sc.Check(s, id)
	s.cancelInstance(id)
	return err
}
