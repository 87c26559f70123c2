package crashtest

import (
	"fmt"
	"testing"
)

// Sleep has the service play each scene once for each of its calls that write to
// the forge. At that call it falls asleep; its claim is taken for lapsed and
// another does the work to its end; then it wakes up and goes on.
func Sleep(t *testing.T, of Service, scenes ...Scene) {
	t.Helper()
	t.Parallel()
	first := NewStage(t, of)
	parts := rehearse(t, first, scenes, held)
	share(t, first, parts, Scene.asleep)
}

// held are the calls that one may sleep at.
func held(_ Scene, calls []Call) (all []Point) {
	for n, c := range calls {
		if c.Writes && !c.NATS {
			all = append(all, Point{n + 1, Held})
		}
	}
	return all
}

// asleep has new work done by one who sleeps at the call, and by another.
func (sc Scene) asleep(s *Stage, at Point) error {
	s.Helper()
	id := sc.Begin(s)
	sleeper := s.enter(at)
	select {
	case <-sleeper.held:
	case <-s.Ctx.Done():
		return fmt.Errorf("the call was never made, but %v", sleeper.Made())
	}
	s.pass(id)
	other := s.enter(Point{})
	if err := sc.await(s, other, id); err != nil {
		return err
	}
	sleeper.Thaw()
	select {
	case <-sleeper.over: // it has given up its message, and done before whatever it had to
	case <-s.Ctx.Done():
		return fmt.Errorf("who slept does not end, after %v", sleeper.Made())
	}
	s.leave(other)
	s.leave(sleeper)
	err := sc.Check(s, id)
	s.retire(id)
	return err
}
