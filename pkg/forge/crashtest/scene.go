package crashtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Scene is a piece of work, and what has to have come of it.
type Scene struct {
	Name string
	// Begin makes the work and returns the instance it is of.
	Begin func(s *Stage) (id string)
	// Over reports whether the work has come to its end.
	Over func(*pb.Instance) bool
	// Rests reports whether the service has done what it does besides; nil: it
	// has when its queues are empty.
	Rests func(s *Stage, id string) bool
	// Check says what is there twice, or not at all.
	Check func(s *Stage, id string) error
	// Looks says that most of its calls read, in parts that the work can do
	// without; then only all calls there are have them go wrong, too.
	Looks bool
}

// rehearse has the work done with nothing going wrong, and returns its calls.
func (sc Scene) rehearse(s *Stage) ([]Call, error) {
	s.Helper()
	id := sc.Begin(s)
	i := s.enter(Point{})
	if err := sc.await(s, i, id); err != nil {
		return nil, err
	}
	s.leave(i)
	defer s.retire(id)
	return i.Made(), sc.Check(s, id)
}

// Works has the service work, with nothing going wrong, until it has brought an
// instance so far.
func (s *Stage) Works(id string, over func(*pb.Instance) bool) {
	s.Helper()
	i := s.enter(Point{})
	if err := (Scene{Over: over}).await(s, i, id); err != nil {
		s.Fatal(err)
	}
	s.leave(i)
}

// once has new work done with something going wrong.
func (sc Scene) once(s *Stage, at Point) error {
	s.Helper()
	id := sc.Begin(s)
	i := s.enter(at)
	for {
		err := sc.await(s, i, id)
		dead := i.Err() != nil && s.Ctx.Err() == nil
		if err != nil && !dead {
			return err
		}
		s.leave(i)
		if !dead {
			break
		}
		s.pass(id)
		i = s.enter(Point{})
	}
	err := sc.Check(s, id)
	s.retire(id)
	return err
}

// retire sees to it that nothing more comes of an instance.
func (s *Stage) retire(id string) {
	s.Helper()
	in, err := s.Client.Get(s.Ctx, id)
	if err == nil && in.GetClosed() == "" {
		_, err = s.Client.Cancel(s.Ctx, id, "the play is over")
	}
	if err != nil {
		s.Fatal(err)
	}
}

// await waits until the work is over and nothing of it is under way, or the
// service is gone.
func (sc Scene) await(s *Stage, i *incarnation, id string) error {
	in, err := s.Client.Get(s.Ctx, id)
	if errors.As(err, new(*instance.Refusal)) {
		err = nil // it is still to be opened
	}
	s.bury(in)
	if err == nil && !sc.Over(in) {
		err = s.Client.Watch(i, id, in.GetSeq(), func(client.LogEntry) error {
			if in, err = s.Client.Get(i, id); err != nil {
				return err
			}
			if s.bury(in); sc.Over(in) {
				return client.ErrStopWatch
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("the work does not end; it is in %s (%s), held by %v, last %q, after %v: %w", in.GetState(), in.GetReason(), in.GetClaim(), in.GetLastResult().GetSummary(), i.Made(), err)
	}
	for sc.Rests != nil && !sc.Rests(s, id) {
		if err := pause(i); err != nil {
			return err
		}
	}
	return s.drained(i)
}

// pause is between two looks at what nobody tells of.
func pause(ctx context.Context) error {
	select {
	case <-time.After(5 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
