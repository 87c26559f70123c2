package logcheck

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// Urgent is the rule of lifecycles that have an order: nobody claims anything
// while something more urgent of the same lifecycle and role is ready. It holds
// of a log that one orchestrator wrote, so Check does not judge it.
const Urgent Rule = "urgent"

// Order checks a log for Urgent as it is read from its beginning. Make one with
// NewOrder. It is not safe for concurrent use.
type Order struct {
	Claims  int // claims of lifecycles with an order
	Choices int // those that were made while something else was ready, too
	find    Find
	all     map[string]*standing // nil: it has no order, or has closed
	found   []Violation
}

// standing is an instance, until when a fault keeps it from being ready, and
// where it stands in the order.
type standing struct {
	in    instance.Instance
	rests time.Time
	rank  []int64
	knows bool // the order tells
}

// NewOrder returns a checker that knows the definitions that find knows.
func NewOrder(find Find) *Order { return &Order{find: find, all: map[string]*standing{}} }

// CheckOrder reads all that is in the log now.
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

// Violations are the places where the rule does not hold, in the order of the log.
func (o *Order) Violations() []Violation { return o.found }

// Add checks the next commit of the log. The error says that it cannot be read.
// An instance that opens under a definition without an order is left out for good.
func (o *Order) Add(c eventstore.Commit) error {
	s, ok := o.all[c.Instance]
	if ok && s == nil {
		return nil
	}
	commit, err := wire.ToCommit(c)
	if err != nil {
		return err
	}
	if !ok {
		s = &standing{in: instance.Instance{ID: c.Instance}}
		o.all[c.Instance] = s
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
				s.rests = c.Time.Add(min(time.Second<<(2*min(s.in.Faults-1, 3)), time.Minute))
			}
		case instance.Dispatched:
			s.rests = time.Time{}
		}
	}
	if s.rank, s.knows = o.rank(s.in); s.in.Closed != "" || !ok && !o.ordered(s.in) {
		o.all[c.Instance] = nil
	}
	return nil
}

func (o *Order) ordered(in instance.Instance) bool {
	def, known := o.find(in.Definition)
	return known && len(def.Order) > 0
}

// claimed holds what was claimed against all else that was ready.
func (o *Order) claimed(s *standing, e instance.Claimed, c instance.Commit) {
	if !s.knows {
		return
	}
	mine := s.rank
	o.Claims++
	others := false
	best, first := s, mine
	for _, other := range o.all {
		if other == nil || other == s || !other.knows || other.in.Workflow != s.in.Workflow || !other.ready(e.Role, c.At) {
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
		o.found = append(o.found, Violation{c.Seq, s.in.ID, Urgent, fmt.Sprintf("%s claims it, of order %v, dispatched as %d; %s is ready, of order %v, dispatched as %d",
			e.Agent, mine, s.in.Work, best.in.ID, first, best.in.Work)})
	}
}

func (s *standing) ready(role string, at time.Time) bool {
	in := &s.in
	return in.Closed == "" && in.Worker() == role && in.Work > 0 && !in.Paused && in.Parked == nil && !in.Claim.Live(at) && !at.Before(s.rests)
}

// rank is where an instance stands in its definition's order; ok is false if that
// has none, or does not tell.
func (o *Order) rank(in instance.Instance) (rank []int64, ok bool) {
	var def *workflow.Definition
	if def, ok = o.find(in.Definition); !ok || len(def.Order) == 0 {
		return nil, false
	}
	rank, err := instance.Rank(def, in)
	return rank, err == nil
}
