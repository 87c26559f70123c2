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
	since  time.Time // when it was entered
	level  workflow.Level
	token  uint64    // the newest
	role   string    // that has it
	until  time.Time // when its lease runs out
	held   bool      // it was neither used nor taken away
	given  string    // the role that has work which it may claim
	work   uint64    // the commit that gave it
	direct bool      // who waited has it, and no queue
	parked bool
	asleep bool // paused
	over   bool
	asked  []string     // roles, by the number of the question less one; empty: answered, or asked of people
	people map[int]bool // escalations that people are waited for
	opened map[string]bool
}

func (l *law) judge(c instance.Commit) error {
	moves := 0
	for _, e := range c.Events {
		if err := l.event(c, e); err != nil {
			return fmt.Errorf("%T %+v: %w", e, e, err)
		}
		switch e := e.(type) {
		case instance.Moved:
			moves++
		case instance.Claimed:
			if e.Direct { // the command is done; what follows is the claim's
				moves = 0
			}
		}
	}
	_, role := l.turn()
	switch idle := role == "" || l.asleep || l.over; {
	case len(c.Events) == 0:
		return fmt.Errorf("a commit of nothing")
	case moves > 17:
		return fmt.Errorf("%d moves in one commit", moves)
	case !idle && !l.held && !l.parked && l.given != role:
		return fmt.Errorf("it is the turn of %s in %s, and nobody told it", role, l.state)
	}
	return nil
}

// turn is whose turn it is, and the question if it is somebody who is asked.
func (l *law) turn() (question int, role string) {
	if len(l.people) > 0 {
		return 0, ""
	}
	for i := len(l.asked); i > 0; i-- {
		if l.asked[i-1] != "" {
			return i, l.asked[i-1]
		}
	}
	row, _ := l.def.State(l.state)
	return 0, row.Owner
}

func (l *law) event(c instance.Commit, e instance.Event) error {
	question, role := l.turn()
	live := l.held && c.At.Before(l.until)
	switch e := e.(type) {
	case instance.Opened:
		if l.state != "" || !l.def.Opens(e.State) {
			return fmt.Errorf("opened in %s, after %q", e.State, l.state)
		}
		l.state, l.since = e.State, c.At
		l.people, l.opened = map[int]bool{}, map[string]bool{}
	case instance.Moved:
		return l.move(c, e)
	case instance.Dispatched:
		if e.State != l.state || e.Owner != role || e.Question != question || live || l.asleep || l.over {
			return fmt.Errorf("dispatched in %s, where it is the turn of %q with question %d; claimed %v, paused %v, over %v", l.state, role, question, live, l.asleep, l.over)
		}
		l.given, l.parked, l.work, l.direct = e.Owner, false, c.Seq, false
	case instance.Claimed:
		if e.Direct && (l.work != c.Seq || l.direct || question > 0) {
			return fmt.Errorf("commit %d gave %s work, for question %d; claimed directly before: %v", l.work, l.given, question, l.direct)
		}
		l.direct = l.direct || e.Direct
		if e.Token <= l.token || live || e.Role != l.given || e.Role != role {
			return fmt.Errorf("token %d until %v is held: %v; it is the turn of %s, and %q was told", l.token, l.until, live, role, l.given)
		}
		l.token, l.until, l.held, l.role = e.Token, e.Lease, true, e.Role
	case instance.LeaseExtended:
		if err := l.fenced(c, e.Token); err != nil {
			return err
		}
		l.until = e.Lease
	case instance.Reported:
		err := l.fenced(c, e.Token)
		if e.Question != question || e.Role != role {
			err = fmt.Errorf("it is the turn of %s, question %d", role, question)
		}
		l.held, l.given = false, ""
		return err
	case instance.Released:
		err := l.fenced(c, e.Token)
		if l.held = false; !e.Fault {
			l.given = "" // after a fault the same delivery comes again
		}
		return err
	case instance.Paused:
		l.asleep, l.held, l.given = true, false, ""
	case instance.Resumed:
		l.asleep = false
	case instance.CancelledBy:
		l.over, l.held = true, false
	default:
		return l.more(c, e, live)
	}
	return nil
}

// more judges what not every lifecycle has.
func (l *law) more(c instance.Commit, e instance.Event, live bool) error {
	switch e := e.(type) {
	case instance.Handed:
		return l.fenced(c, l.token)
	case instance.Asked:
		l.asked = append(l.asked, e.To)
		if e.Number != len(l.asked) {
			return fmt.Errorf("it is question %d", len(l.asked))
		}
	case instance.Answered:
		l.asked[e.Number-1] = ""
	case instance.Escalated:
		if e.RequiresHuman {
			l.people[e.Number], l.held, l.given = true, false, ""
		}
	case instance.Resolved:
		delete(l.people, e.Number)
	case instance.ParkedUntil:
		l.parked, l.given = true, ""
		if live || e.State != l.state {
			return fmt.Errorf("parked in %s, claimed %v", l.state, live)
		}
	case instance.Woken:
		if !live {
			return fmt.Errorf("nobody is at work")
		}
	case instance.TimedOut:
		row, _ := l.def.State(l.state)
		for _, d := range l.def.Deadlines(row) {
			if d.Level == e.Level && (c.At.Before(l.since.Add(d.After)) || reached(l.level) >= reached(e.Level)) {
				return fmt.Errorf("entered at %v, told of %q", l.since, l.level)
			}
		}
		l.level = e.Level
	case instance.Spawned:
		if l.opened[e.Instance] {
			return fmt.Errorf("opened twice")
		}
		l.opened[e.Instance] = true
	case instance.Remembered:
		if !typed(l.def, e.Vars, true) || len(e.Vars) == 0 {
			return fmt.Errorf("vars are %v", l.def.Vars)
		}
	case instance.Migrated:
		if live || e.Definition != l.def.Hash {
			return fmt.Errorf("claimed %v, definition %s", live, l.def.Hash)
		}
		l.held, l.given, l.parked, l.over = false, "", false, e.Kind == workflow.Final
	}
	return nil
}

func (l *law) fenced(c instance.Commit, token uint64) error {
	if !l.held || token != l.token || !c.At.Before(l.until) || l.asleep || l.over {
		return fmt.Errorf("token %d at %v, but the newest is %d until %v, held: %v", token, c.At, l.token, l.until, l.held)
	}
	return nil
}

func (l *law) move(c instance.Commit, e instance.Moved) error {
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
	case e.KeepsClaim && (l.fenced(c, l.token) != nil || l.role != to.Owner):
		return fmt.Errorf("there is nothing to keep: %s has token %d, held: %v", l.role, l.token, l.held)
	}
	l.state, l.since, l.level, l.over, l.parked = e.To, c.At, "", to.Kind == workflow.Final, false
	if !e.KeepsClaim {
		l.held, l.given = false, ""
	}
	for i := range l.asked {
		l.asked[i] = "" // whoever asked is gone
	}
	return nil
}
