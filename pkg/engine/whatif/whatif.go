// Package whatif decides recorded histories again under other definitions, and says where each
// would have gone elsewhere. It guesses nothing: no record has the result of work
// that nobody did, nor an answer that nobody gave.
package whatif

import (
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Alter returns the definition to decide by in place of the recorded one.
type Alter func(recorded *workflow.Definition) (*workflow.Definition, error)

// Find returns the definition of a content hash.
type Find func(hash string) (*workflow.Definition, bool)

// Run decides the commits of one instance again, until one decision differs. Create one with
// New, and add the commits in order.
type Run struct {
	alter Alter
	find  Find
	again *instance.Decider

	in       *instance.Instance // as it is under the other definition; the recorded one is the same until a decision differs; nil: shelved
	shelved  shelved
	recorded *workflow.Definition
	other    *workflow.Definition
	decided  bool // nothing is decided any more
	found    Case
}

// New returns the run of an instance.
func New(id string, alter Alter, find Find) *Run {
	return newRun(id, alter, find, new(instance.Decider))
}

// newRun returns a run that decides by a decider of many runs.
func newRun(id string, alter Alter, find Find, again *instance.Decider) *Run {
	return &Run{alter: alter, find: find, again: again, in: &instance.Instance{ID: id}, found: Case{Instance: id}}
}

// Case returns what was found so far.
func (r *Run) Case() Case { return r.found }

// Add decides the next commit of the record again. After a difference it only adds the commit
// to the tail.
func (r *Run) Add(c instance.Commit) {
	r.found.count(c, r.decided)
	if r.decided {
		return
	}
	if why := r.define(c); why != "" {
		r.unknown(c, why)
		return
	}
	if r.deadlinePasses(c) {
		return
	}
	r.redecide(c)
}

// define finds the definitions that the commit is decided under. It returns why there are none.
func (r *Run) define(c instance.Commit) (why string) {
	for _, e := range c.Events {
		hash := ""
		switch e := e.(type) {
		case instance.Opened:
			hash = e.Definition
		case instance.Migrated:
			hash = e.Definition
		default:
			continue
		}
		def, ok := r.find(hash)
		if !ok {
			return fmt.Sprintf("its definition %.12s cannot be read", hash)
		}
		other, err := r.alter(def)
		if err != nil {
			return err.Error()
		}
		if _, migrates := e.(instance.Migrated); migrates && other.Hash == r.in.Definition {
			return "it migrated to a definition that the other one replaces"
		}
		r.recorded, r.other = def, other
	}
	if r.other == nil {
		return "its record does not begin with its opening"
	}
	return ""
}

// deadlinePasses reports whether a deadline that only the other definition has passes before the
// commit, and moves the instance.
func (r *Run) deadlinePasses(c instance.Commit) bool {
	for {
		deadline, at, due := instance.Due(r.other, *r.in)
		if !due || !at.Before(c.At) {
			return false
		}
		if _, recordedAt, ok := instance.Due(r.recorded, *r.in); ok && !recordedAt.After(at) {
			return false // the record has it, a little later
		}
		passes := instance.Commit{Seq: r.in.Seq, ID: "deadline", At: at, Actor: "orchestrator"}
		var err error
		passes.Events, err = instance.Decide(r.other, *r.in, instance.Command{
			ID: passes.ID, Instance: r.in.ID, At: at, Actor: passes.Actor, Do: instance.Expire{Entered: r.in.Entered, Level: deadline.Level},
		})
		switch {
		case err != nil:
			r.unknown(c, err.Error())
			return true
		case hasEffect(passes.Events):
			r.decided = true
			r.found.Seq, r.found.At, r.found.By = c.Seq, at, passes.Actor
			r.found.Recorded, r.found.Instead = landing(*r.in, nil), landing(instance.Evolve(*r.in, passes), passes.Events)
			return true
		}
		r.in.Evolve(passes)
	}
}

// redecide decides the commit under the other definition and compares the decisions.
func (r *Run) redecide(c instance.Commit) {
	events, err := r.again.Redecide(r.other, *r.in, c)
	var no *instance.Refusal
	if err != nil && !errors.As(err, &no) {
		r.unknown(c, err.Error())
		return
	}
	if name := r.newlyAdmitted(c); name != "" {
		r.unknown(c, fmt.Sprintf("it would admit %s, which the record keeps no value of", name))
		return
	}
	if _, warns := c.Events[0].(instance.TimedOut); no != nil && warns && !hasEffect(c.Events) {
		return // a warning that is not due, or is given already
	}
	if err == nil && equal(c.Events, events) {
		r.in.Evolve(instance.Commit{Seq: c.Seq, ID: c.ID, At: c.At, Actor: c.Actor, Events: events})
		return
	}
	if again, err := r.again.Redecide(r.recorded, *r.in, c); err != nil || !equal(c.Events, again) {
		r.unknown(c, "this version of Signalbox decides it otherwise under its own definition, too")
		return
	}
	if no != nil {
		r.refused(c, no)
		return
	}
	r.differs(c, events)
}

// newlyAdmitted returns the name of a statement that was refused and that the other definition
// admits, or "".
func (r *Run) newlyAdmitted(c instance.Commit) string {
	_, asked := r.in.Inquiry()
	for _, e := range c.Events {
		no, ok := e.(instance.StatementRefused)
		if ok && r.other.Gives(r.in.State, no.Role, asked, no.What, no.Name) {
			return no.Name
		}
	}
	return ""
}

func (r *Run) unknown(c instance.Commit, why string) {
	r.decided = true
	r.found.Seq, r.found.At, r.found.Unknown = c.Seq, c.At, why
}

// refused ends the run at a command that the other definition refuses.
func (r *Run) refused(c instance.Commit, no *instance.Refusal) {
	r.differs(c, nil)
	r.found.Instead.Reason = "refused: " + no.What
}

// differs ends the run at a decision with other events.
func (r *Run) differs(c instance.Commit, other []instance.Event) {
	r.decided = true
	r.found.Seq, r.found.At, r.found.By = c.Seq, c.At, c.Actor
	r.found.Recorded = landing(instance.Evolve(*r.in, c), c.Events)
	c.Events = other
	r.found.Instead = landing(instance.Evolve(*r.in, c), other)
}
