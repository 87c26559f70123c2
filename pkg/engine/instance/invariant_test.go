package instance_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// invariants checks the log of an instance commit by commit against what must hold
// for every instance of every lifecycle.
type invariants struct {
	def          *workflow.Definition
	state        string
	since        time.Time // when state was entered; of a resumed wait, when it began
	level        workflow.Level
	leftWait     instance.LeftWait // the newest wait that was left
	token        uint64            // newest fencing token
	role         string            // that holds it
	leaseEnd     time.Time         // when its lease ends
	held         bool              // the claim was neither used nor revoked
	dispatchedTo string            // the role that may claim the work
	work         uint64            // the commit that dispatched it
	direct       bool              // a waiter claimed it: no queue has it
	parked       bool
	paused       bool // paused
	closed       bool
	inquiries    []string     // role by question number less one; empty: answered, or to people
	escalations  map[int]bool // open escalations that require people
	children     map[string]bool
}

func (l *invariants) check(c instance.Commit) error {
	moves := 0
	for _, e := range c.Events {
		if err := l.event(c, e); err != nil {
			return fmt.Errorf("%T %+v: %w", e, e, err)
		}
		switch e := e.(type) {
		case instance.Moved:
			moves++
		case instance.Claimed:
			if e.Direct { // what follows belongs to the claim
				moves = 0
			}
		}
	}
	_, role := l.worker()
	switch idle := role == "" || l.paused || l.closed; {
	case len(c.Events) == 0:
		return fmt.Errorf("an empty commit")
	case moves > 17:
		return fmt.Errorf("%d moves in one commit", moves)
	case !idle && !l.held && !l.parked && l.dispatchedTo != role:
		return fmt.Errorf("%s works next in %s, and nothing was dispatched to it", role, l.state)
	}
	return nil
}

// worker returns the role that works next and, if it is inquired, the question's number.
func (l *invariants) worker() (question int, role string) {
	if len(l.escalations) > 0 {
		return 0, ""
	}
	for i := len(l.inquiries); i > 0; i-- {
		if l.inquiries[i-1] != "" {
			return i, l.inquiries[i-1]
		}
	}
	row, _ := l.def.State(l.state)
	return 0, row.Owner
}

func (l *invariants) event(c instance.Commit, e instance.Event) error {
	question, role := l.worker()
	live := l.held && c.At.Before(l.leaseEnd)
	switch e := e.(type) {
	case instance.Opened:
		if l.state != "" || !l.def.Opens(e.State) {
			return fmt.Errorf("opened in %s, after %q", e.State, l.state)
		}
		l.state, l.since = e.State, c.At
		l.escalations, l.children = map[int]bool{}, map[string]bool{}
	case instance.Moved:
		return l.move(c, e)
	case instance.Dispatched:
		if e.State != l.state || e.Owner != role || e.Question != question || live || l.paused || l.closed {
			return fmt.Errorf("dispatched in %s, where it is the turn of %q with question %d; claimed %v, paused %v, over %v", l.state, role,
				question, live, l.paused, l.closed)
		}
		l.dispatchedTo, l.parked, l.work, l.direct = e.Owner, false, c.Seq, false
	case instance.Claimed:
		if e.Direct && (l.work != c.Seq || l.direct || question > 0) {
			return fmt.Errorf("commit %d gave %s work, for question %d; claimed directly before: %v", l.work, l.dispatchedTo, question, l.direct)
		}
		l.direct = l.direct || e.Direct
		if e.Token <= l.token || live || e.Role != l.dispatchedTo || e.Role != role {
			return fmt.Errorf("token %d until %v is held: %v; it is the turn of %s, and %q was told", l.token, l.leaseEnd, live, role,
				l.dispatchedTo)
		}
		l.token, l.leaseEnd, l.held, l.role = e.Token, e.Lease, true, e.Role
	case instance.LeaseExtended:
		if err := l.checkToken(c, e.Token); err != nil && !(e.Lapsed && l.held && e.Token == l.token) {
			return err
		}
		l.leaseEnd = e.Lease
	case instance.Reported:
		err := l.checkToken(c, e.Token)
		if e.Question != question || e.Role != role {
			err = fmt.Errorf("it is the turn of %s, question %d", role, question)
		}
		for _, ev := range e.Result.Evidence {
			if ev.Role != e.Role || ev.Agent != e.Agent || !l.def.Gives(l.state, e.Role, e.Question > 0, workflow.GivenEvidence, ev.Name) {
				err = fmt.Errorf("%s of %s is signed by %s; it may come from %v", ev.Name, e.Role, ev.Role,
					l.def.Givers(workflow.GivenEvidence, ev.Name))
			}
		}
		l.held, l.dispatchedTo = false, ""
		return err
	case instance.Released:
		err := l.checkToken(c, e.Token)
		if l.held = false; !e.Fault {
			l.dispatchedTo = "" // after a fault the same message is redelivered
		}
		return err
	case instance.Paused:
		l.paused, l.held, l.dispatchedTo = true, false, ""
	case instance.Resumed:
		l.paused = false
	case instance.Reopened:
		if !l.closed {
			return errors.New("it is reopened and has not ended")
		}
		l.closed, l.paused, l.held, l.parked, l.dispatchedTo = false, false, false, false, ""
	case instance.CancelledBy:
		l.closed, l.held = true, false
	case instance.Handed:
		return l.checkToken(c, l.token)
	case instance.Asked:
		l.inquiries = append(l.inquiries, e.To)
		if e.Number != len(l.inquiries) {
			return fmt.Errorf("it is question %d", len(l.inquiries))
		}
	case instance.Answered:
		l.inquiries[e.Number-1] = ""
	case instance.Escalated:
		if e.RequiresHuman {
			l.escalations[e.Number], l.held, l.dispatchedTo = true, false, ""
		}
	case instance.Resolved:
		delete(l.escalations, e.Number)
	case instance.ParkedUntil:
		l.parked, l.dispatchedTo = true, ""
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
			if d.Level == e.Level && (c.At.Before(l.since.Add(d.After)) || levelNumber(l.level) >= levelNumber(e.Level)) {
				return fmt.Errorf("entered at %v, told of %q", l.since, l.level)
			}
		}
		l.level = e.Level
	case instance.Spawned:
		if l.children[e.Instance] {
			return fmt.Errorf("opened twice")
		}
		l.children[e.Instance] = true
	case instance.Remembered:
		if !validVars(l.def, e.Vars, true) || len(e.Vars) == 0 {
			return fmt.Errorf("vars are %v", l.def.Vars)
		}
	case instance.Migrated:
		if live || e.Definition != l.def.Hash {
			return fmt.Errorf("claimed %v, definition %s", live, l.def.Hash)
		}
		l.held, l.dispatchedTo, l.parked, l.closed = false, "", false, e.Kind == workflow.Final
	}
	return nil
}

func (l *invariants) checkToken(c instance.Commit, token uint64) error {
	if !l.held || token != l.token || !c.At.Before(l.leaseEnd) || l.paused || l.closed {
		return fmt.Errorf("token %d at %v, but the newest is %d until %v, held: %v", token, c.At, l.token, l.leaseEnd, l.held)
	}
	return nil
}

func (l *invariants) move(c instance.Commit, e instance.Moved) error {
	to, known := l.def.State(e.To)
	switch {
	case e.From != l.state:
		return fmt.Errorf("it is in %s", l.state)
	case l.closed:
		return fmt.Errorf("it is over")
	case !known || e.Owner != to.Owner || e.Kind != to.Kind:
		return fmt.Errorf("there is no such state")
	case !e.Override && !l.def.Permits(e.From, e.To):
		return fmt.Errorf("the table does not have it")
	case e.KeepsClaim && (l.checkToken(c, l.token) != nil || l.role != to.Owner):
		return fmt.Errorf("there is nothing to keep: %s has token %d, held: %v", l.role, l.token, l.held)
	}
	if from, _ := l.def.State(e.From); from.Kind == workflow.Wait {
		l.leftWait = instance.LeftWait{State: e.From, Since: l.since, Level: l.level}
	}
	l.state, l.since, l.level, l.closed, l.parked = e.To, c.At, "", to.Kind == workflow.Final, false
	if e.Resumes && l.leftWait.State == e.To {
		l.since, l.level = l.leftWait.Since, l.leftWait.Level
	}
	if !e.KeepsClaim {
		l.held, l.dispatchedTo = false, ""
	}
	for i := range l.inquiries {
		l.inquiries[i] = "" // the state that asked has been left
	}
	return nil
}
