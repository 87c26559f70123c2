package instance_test

import (
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// law reads a log as it grows, and says where it breaks what must hold for
// every instance of every lifecycle.
type law struct {
	def    *workflow.Definition
	state  string
	token  uint64    // the newest
	until  time.Time // when its lease runs out
	held   bool      // it was neither used nor taken away
	asleep bool      // paused
	over   bool
}

func (l *law) judge(c instance.Commit) error {
	moves := 0
	for _, e := range c.Events {
		if err := l.event(c, e); err != nil {
			return fmt.Errorf("%T %+v: %w", e, e, err)
		}
		if _, ok := e.(instance.Moved); ok {
			moves++
		}
	}
	switch {
	case len(c.Events) == 0:
		return fmt.Errorf("a commit of nothing")
	case moves > 1:
		return fmt.Errorf("%d moves in one commit", moves)
	}
	return nil
}

func (l *law) event(c instance.Commit, e instance.Event) error {
	switch e := e.(type) {
	case instance.Opened:
		if l.state != "" || e.State != l.def.Initial {
			return fmt.Errorf("opened in %s, after %q", e.State, l.state)
		}
		l.state = e.State
	case instance.Moved:
		return l.move(e)
	case instance.Dispatched:
		row, _ := l.def.State(l.state)
		if e.State != l.state || e.Owner != row.Owner || row.Kind != workflow.Work || l.asleep || l.over {
			return fmt.Errorf("dispatched in %s, a %s of %q; paused %v, over %v", l.state, row.Kind, row.Owner, l.asleep, l.over)
		}
	case instance.Claimed:
		if e.Token <= l.token || l.held && c.At.Before(l.until) {
			return fmt.Errorf("token %d until %v is held", l.token, l.until)
		}
		l.token, l.until, l.held = e.Token, e.Lease, true
	case instance.LeaseExtended:
		if err := l.fenced(c, e.Token); err != nil {
			return err
		}
		l.until = e.Lease
	case instance.Reported:
		err := l.fenced(c, e.Token)
		l.held = false
		return err
	case instance.Released:
		err := l.fenced(c, e.Token)
		l.held = false
		return err
	case instance.Paused:
		l.asleep, l.held = true, false
	case instance.Resumed:
		l.asleep = false
	case instance.CancelledBy:
		l.over, l.held = true, false
	}
	return nil
}

func (l *law) fenced(c instance.Commit, token uint64) error {
	if !l.held || token != l.token || !c.At.Before(l.until) || l.asleep || l.over {
		return fmt.Errorf("token %d at %v, but the newest is %d until %v, held: %v", token, c.At, l.token, l.until, l.held)
	}
	return nil
}

func (l *law) move(e instance.Moved) error {
	to, known := l.def.State(e.To)
	switch {
	case e.From != l.state:
		return fmt.Errorf("it is in %s", l.state)
	case l.over:
		return fmt.Errorf("it is over")
	case !known || e.Owner != to.Owner || e.Kind != to.Kind:
		return fmt.Errorf("there is no such state")
	case !e.Override && !l.def.Permits(e.From, e.To):
		return fmt.Errorf("the table does not have it")
	}
	l.state, l.held, l.over = e.To, false, to.Kind == workflow.Final
	return nil
}
