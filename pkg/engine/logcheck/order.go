package logcheck

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Urgent is the rule of lifecycles with an order. No agent claims an instance while a more
// urgent one of the same lifecycle and role is ready. It holds for a log that one
// orchestrator wrote, so Check does not check it.
const Urgent Rule = "urgent"

// Order checks a log for Urgent as it is read from its beginning. Create one with
// NewOrder. It is not safe for concurrent use.
type Order struct {
	Claims     int // claims of lifecycles with an order
	Choices    int // claims made while another instance was ready
	find       Find
	instances  map[string]*orderedInstance // nil: without an order, or closed
	violations []Violation
}

// orderedInstance is an instance with its rank in the order, and the time before
// which a fault keeps it from being ready.
type orderedInstance struct {
	in        instance.Instance
	notBefore time.Time
	rank      []int64
	ranked    bool // rank is known
}

// NewOrder returns a checker. find returns the definitions.
func NewOrder(find Find) *Order { return &Order{find: find, instances: map[string]*orderedInstance{}} }

// CheckOrder checks the log as it is now.
func CheckOrder(ctx context.Context, log eventstore.Store, find Find) (*Order, error) {
	o := NewOrder(find)
	reading, stop := context.WithCancel(ctx)
	defer stop()
	whole := false
	err := log.Read(reading, 1, o.Add, func() { whole = true; stop() })
	if whole {
		err = nil
	}
	return o, err
}

// Violations returns the violations of the rule, in the order of the log.
func (o *Order) Violations() []Violation { return o.violations }

// Add checks the next commit of the log. It returns an error if the commit cannot
// be decoded. An instance that opens under a definition without an order is ignored
// from then on.
func (o *Order) Add(c eventstore.Commit) error {
	if c.Foreign != nil {
		return nil
	}
	s, ok := o.instances[c.Instance]
	if ok && s == nil {
		return nil
	}
	commit, err := wire.ToCommit(c)
	if err != nil {
		return err
	}
	if !ok {
		s = &orderedInstance{in: instance.Instance{ID: c.Instance}}
		o.instances[c.Instance] = s
	}
	for _, e := range commit.Events {
		if e, ok := e.(instance.Claimed); ok {
			o.claimed(s, e, commit)
		}
	}
	s.in = instance.Evolve(s.in, commit)
	for _, e := range commit.Events {
		switch e := e.(type) {
		case instance.Released:
			if e.Fault {
				s.notBefore = c.Time.Add(min(time.Second<<(2*min(s.in.Faults-1, 3)), time.Minute))
				if e.Until.After(s.notBefore) {
					s.notBefore = e.Until
				}
			}
		case instance.Dispatched:
			s.notBefore = time.Time{}
		}
	}
	if s.rank, s.ranked = o.rank(s.in); s.in.Closed != "" || !ok && !o.ordered(s.in) {
		o.instances[c.Instance] = nil
	}
	return nil
}

func (o *Order) ordered(in instance.Instance) bool {
	def, known := o.find(in.Definition)
	return known && len(def.Order) > 0
}

// claimed compares a claimed instance with all others that were ready.
func (o *Order) claimed(s *orderedInstance, e instance.Claimed, c instance.Commit) {
	if !s.ranked {
		return
	}
	mine := s.rank
	o.Claims++
	others := false
	best, first := s, mine
	for _, other := range o.instances {
		if other == nil || other == s || !other.ranked || other.in.Workflow != s.in.Workflow || !other.ready(e.Role, c.At) {
			continue
		}
		others = true
		if d := slices.Compare(other.rank, first); d < 0 || d == 0 && other.in.Work < best.in.Work {
			best, first = other, other.rank
		}
	}
	if others {
		o.Choices++
	}
	if best != s {
		o.violations = append(o.violations,
			Violation{c.Seq, s.in.ID, Urgent, fmt.Sprintf("%s claims it, of order %v, dispatched as %d; %s is ready, of order %v, dispatched as %d",
				e.Agent, mine, s.in.Work, best.in.ID, first, best.in.Work)})
	}
}

func (s *orderedInstance) ready(role string, at time.Time) bool {
	in := &s.in
	return in.Closed == "" && in.Worker() == role && in.Work > 0 && !in.Paused && in.Parked == nil && !in.Claim.Live(at) &&
		!at.Before(s.notBefore)
}

// rank returns the instance's rank in its definition's order; ok is false if there
// is none or it cannot be evaluated.
func (o *Order) rank(in instance.Instance) (rank []int64, ok bool) {
	var def *workflow.Definition
	if def, ok = o.find(in.Definition); !ok || len(def.Order) == 0 {
		return nil, false
	}
	rank, err := instance.Rank(def, in)
	return rank, err == nil
}
