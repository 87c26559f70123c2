package crashtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Scenario is a piece of work and the check of its effects.
type Scenario struct {
	Name string
	// Begin creates the work and returns its instance.
	Begin func(s *Env) (id string)
	// Done reports whether the work has ended.
	Done func(*pb.Instance) bool
	// Idle reports whether the service has nothing else to do. If it is nil, empty queues
	// mean that.
	Idle func(s *Env, id string) bool
	// Check reports effects that were made twice or not at all.
	Check func(s *Env, id string) error
	// ReadsOptional means that most calls read what the work can do without. They fail only
	// in the long run.
	ReadsOptional bool
}

// recordCalls runs the work without a fault and returns its calls.
func (sc Scenario) recordCalls(s *Env) ([]Call, error) {
	s.Helper()
	id := sc.Begin(s)
	i := s.startInstance(FaultAt{})
	if err := sc.await(s, i, id); err != nil {
		return nil, err
	}
	s.stopInstance(i)
	defer s.cancelInstance(id)
	return i.Calls(), sc.Check(s, id)
}

// RunUntil runs the service without a fault until done returns true for the instance.
func (s *Env) RunUntil(id string, over func(*pb.Instance) bool) {
	s.Helper()
	i := s.startInstance(FaultAt{})
	if err := (Scenario{Done: over}).await(s, i, id); err != nil {
		s.Fatal(err)
	}
	s.stopInstance(i)
}

// runWithFault runs new work with a fault.
func (sc Scenario) runWithFault(s *Env, at FaultAt) error {
	s.Helper()
	id := sc.Begin(s)
	i := s.startInstance(at)
	for {
		err := sc.await(s, i, id)
		dead := i.Err() != nil && s.Ctx.Err() == nil
		if err != nil && !dead {
			return err
		}
		s.stopInstance(i)
		if !dead {
			break
		}
		s.expireLease(id)
		i = s.startInstance(FaultAt{})
	}
	err := sc.Check(s, id)
	s.cancelInstance(id)
	return err
}

// cancelInstance cancels the instance if it is not closed.
func (s *Env) cancelInstance(id string) {
	s.Helper()
	in, err := s.Client.Get(s.Ctx, id)
	if err == nil && in.GetClosed() == "" {
		_, err = s.Client.Cancel(s.Ctx, id, "the scenario has ended")
	}
	if err != nil {
		s.Fatal(err)
	}
}

// await waits until the work has ended and the queues are empty, or the instance of the
// service has crashed.
func (sc Scenario) await(s *Env, i *instanceOf, id string) error {
	in, err := s.Client.Get(s.Ctx, id)
	if errors.As(err, new(*instance.Refusal)) {
		err = nil // it is not opened yet
	}
	s.endDeadLease(in)
	if err == nil && !sc.Done(in) {
		err = s.Client.Watch(i, id, in.GetSeq(), func(client.LogEntry) error {
			if in, err = s.Client.Get(i, id); err != nil {
				return err
			}
			if s.endDeadLease(in); sc.Done(in) {
				return client.ErrStopWatch
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("the work does not end; it is in %s (%s), held by %v, last %q, after %v: %w", in.GetState(), in.GetReason(),
			in.GetClaim(), in.GetLastResult().GetSummary(), i.Calls(), err)
	}
	for sc.Idle != nil && !sc.Idle(s, id) {
		if err := pause(i); err != nil {
			return err
		}
	}
	return s.waitDrained(i)
}

// pause waits between two polls.
func pause(ctx context.Context) error {
	select {
	case <-time.After(5 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
