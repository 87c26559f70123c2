package instance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// ProposalRefused means that the table does not permit the next state that a result proposed.
type ProposalRefused struct {
	From      string
	Proposed  string
	Permitted []string
}

func (ProposalRefused) apply(*Instance, Commit) {} // recorded for people

// GateRefused means that a quality gate changed the target of a move.
type GateRefused struct {
	Gate    string
	Wanted  string
	Instead string
	Reason  string
}

func (GateRefused) apply(*Instance, Commit) {} // recorded for people

// LoopDetected is a warning: the definition's loop rule holds.
type LoopDetected struct {
	States []string // the recent states
	Reason string
}

func (LoopDetected) apply(*Instance, Commit) {} // recorded for people

// Moved is the only event that changes the state.
type Moved struct {
	From     string
	To       string
	Owner    string
	Kind     workflow.Kind
	Rule     string // what chose To: proposed, decide, a limit's or gate's name, signal, override
	Reason   string
	Failure  bool // recorded as a failure of the work
	Loop     bool // the loop rule holds after this move
	Override bool // made by a person outside the table

	Timeout        time.Duration // of To
	KeepsClaim     bool          // the claim goes on
	ResetsFailures bool          // the failure counts of all states start at zero
	Resumes        bool          // To is a wait that goes on: its deadlines count from where the newest stay in it began
	Cites          []string      // names of the evidence that the decision is based on
}

func (e Moved) apply(in *Instance, c Commit) {
	in.Previous = in.Previous.Append(e.From)
	in.Iteration++
	in.Returns = in.returnsAfter(e.To)
	in.Loop, in.Failed = e.Loop, e.Failure
	in.Failures = countFailures(in.Failures, e)
	in.Questions = withdrawInquiries(in.Questions)
	if !e.KeepsClaim {
		in.Claim = nil
	}
	in.MoveReason = e.Reason
	if !in.Paused {
		in.Reason = e.Reason
	}
	in.enter(c, e.To, e.Owner, e.Kind, e.Timeout)
	if e.Resumes && in.LeftWait.State == e.To {
		in.Since, in.Level = in.LeftWait.Since, in.LeftWait.Level
	}
}

// transition moves the instance to the rule's first permitted target. Gates and
// limits may change the target. trigger has the facts with the signal that the
// rule reacts to; nil if it is no reaction.
func (d *decision) transition(trigger *workflow.Facts, rule workflow.Rule) error {
	from, owner := d.in.State, d.in.Owner
	state, _ := d.def.State(from)
	to, ok := d.firstPermitted(rule.To)
	if !ok {
		return d.refuse(CodeNotPermitted, targets(state), "%s → %s", from, strings.Join(rule.To, " or "))
	}
	rule.To = []string{to}
	cites := rule.When.Cites()
	for _, gate := range d.def.Gates {
		if !slices.Contains(gate.To, rule.To[0]) {
			continue
		}
		cites = slices.Concat(cites, gate.Require.Cites())
		holds, err := d.holds(gate.Require, trigger)
		d.trace("gate", workflow.Rule{Name: gate.Name, When: gate.Require, To: gate.To, Reason: gate.Reason}, trigger, holds, err)
		if err != nil {
			return d.refuse(CodeUndecided, nil, "gate %s: %v", gate.Name, err)
		}
		if holds {
			continue
		}
		instead, ok := d.firstPermitted(gate.Instead)
		if !ok {
			return d.refuse(CodeUndecided, targets(state), "gate %s forbids %s → %s and offers no permitted way", gate.Name, from, rule.To[0])
		}
		reason := d.def.Text(gate.Reason)
		d.record(GateRefused{gate.Name, rule.To[0], instead, reason})
		failed := rule.Failure || rule.Name == "decide" || rule.Name == "proposed" // a result that fails a gate is a failure
		rule = workflow.Rule{Name: gate.Name, To: []string{instead}, Reason: reason, Failure: failed}
	}
	before := *d
	if err := d.move(rule, cites); err != nil {
		return err
	}
	limited, err := before.limit(trigger, d)
	if err != nil {
		return err
	}
	if limited.To != nil {
		limited.Failure = true
		*d = before
		if err := d.move(limited, slices.Concat(cites, limited.When.Cites())); err != nil {
			return err
		}
	}
	// A wait that people's words interrupt is no loop.
	waits := state.Kind == workflow.Wait || d.in.Kind == workflow.Wait && !d.in.Since.IsZero()
	if d.in.Loop && d.in.Visited(d.in.State) > 1 && !waits {
		w := d.def.Loop.Window
		recent := d.in.Previous.Last(w)
		d.record(LoopDetected{recent, fmt.Sprintf("the last %d states were %s", w, strings.Join(recent, ", "))})
	}
	if limited.Escalate {
		if err := d.escalateToPeople(owner, limited); err != nil {
			return err
		}
	}
	return d.onEntry()
}

// move records the move. A claim that moves the instance is kept if its role owns the new state.
func (d *decision) move(rule workflow.Rule, cites []string) error {
	if err := d.setVars(rule.Set); err != nil {
		return err
	}
	target, _ := d.def.State(rule.To[0])
	_, claims := d.cmd.Do.(Claim)
	d.record(Moved{
		From: d.in.State, To: target.Name, Owner: target.Owner, Kind: target.Kind, Timeout: target.Timeout,
		Rule: rule.Name, Reason: d.def.Text(rule.Reason), Failure: rule.Failure, ResetsFailures: rule.ResetsFailures, Loop: d.inLoop(),
		Resumes:    rule.Resumes && target.Kind == workflow.Wait,
		KeepsClaim: claims && d.in.Claim != nil && d.in.Claim.Role == target.Owner,
		Cites:      d.available(cites),
	})
	return nil
}

// available returns the names under which the instance has evidence, sorted,
// each once.
func (d *decision) available(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	return slices.DeleteFunc(names, func(name string) bool {
		return !slices.ContainsFunc(d.in.Evidence, func(e Evidence) bool { return e.Name == name })
	})
}

// limit returns the first limit of the definition that the move to after exceeds,
// or the zero rule. Limits read the instance as it is after the move, but the
// failures of the state it leaves.
func (d *decision) limit(trigger *workflow.Facts, after *decision) (workflow.Rule, error) {
	if after.in.Kind == workflow.Final || len(d.def.Limits) == 0 {
		return workflow.Rule{}, nil
	}
	moved := after.facts()
	facts := *moved
	if trigger != nil {
		facts = *trigger
		facts.Instance, facts.Vars = moved.Instance, moved.Vars
	}
	facts.Instance.Failures = int64(after.in.FailuresIn(d.in.State))
	for _, rule := range d.def.Limits {
		holds, err := rule.When.Holds(&facts)
		d.trace("limit", rule, &facts, holds, err)
		if err != nil {
			return rule, d.refuse(CodeUndecided, nil, "limit %s: %v", rule.Name, err)
		}
		if !holds {
			continue
		}
		if rule.Escalate {
			return rule, nil
		}
		if target, ok := d.firstPermitted(rule.To); ok {
			rule.To = []string{target}
			return rule, nil
		}
	}
	return workflow.Rule{}, nil
}

// inLoop evaluates the loop rule over the past states and the one being left.
func (d *decision) inLoop() bool {
	if d.def.Loop.Window == 0 {
		return false
	}
	return InLoop(appended(d.in.Previous.Last(d.def.Loop.Window), d.in.State), d.def.Loop)
}

// InLoop reports whether the newest l.Window previous states are at most
// l.Distinct different ones (issue lifecycle, is_in_loop).
func InLoop(previous []string, l workflow.Loop) bool {
	if l.Window == 0 || len(previous) < l.Window {
		return false
	}
	distinct := map[string]bool{}
	for _, s := range previous[len(previous)-l.Window:] {
		distinct[s] = true
	}
	return len(distinct) <= l.Distinct
}

// firstPermitted returns the first candidate that the table permits from the
// current state; ok is false if there is none.
func (d *decision) firstPermitted(candidates []string) (to string, ok bool) {
	for _, to := range d.expandPrevious(candidates) {
		if d.def.Permits(d.in.State, to) {
			return to, true
		}
	}
	return "", false
}

// expandPrevious replaces workflow.Previous among the candidates with the newest
// other state that the instance was in.
func (d *decision) expandPrevious(candidates []string) []string {
	i := slices.Index(candidates, workflow.Previous)
	if i < 0 {
		return candidates
	}
	for from := range d.in.Previous.Backward() {
		if from != d.in.State {
			candidates = slices.Clone(candidates)
			candidates[i] = from
			break
		}
	}
	return candidates
}

func targets(s workflow.State) []string {
	var out []string
	for _, t := range s.Next {
		out = append(out, t.To)
	}
	return out
}

// countFailures returns the failures in a row by state after a move. For the state that is
// left there is one more or, after success, none (task lifecycle, failure counting).
func countFailures(all []FailureCount, e Moved) []FailureCount {
	set := func(state string, count int) {
		all = slices.DeleteFunc(slices.Clone(all), func(f FailureCount) bool { return f.State == state })
		if count > 0 {
			all = append(all, FailureCount{state, count})
		}
	}
	failed := 0
	for _, f := range all {
		if f.State == e.From {
			failed = f.Count
		}
	}
	switch {
	case e.Failure:
		set(e.From, failed+1)
	case failed > 0 && !e.Override:
		set(e.From, 0)
	}
	if e.ResetsFailures {
		return nil
	}
	return all
}
