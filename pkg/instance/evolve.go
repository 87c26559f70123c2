package instance

import (
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// Evolve returns the instance after a commit. It reads no definition, never fails,
// and ignores events of a type that it does not know.
func Evolve(in Instance, c Commit) Instance {
	in.Evolve(c)
	return in
}

// Evolve applies a commit in place. It does not write to what the instance refers
// to, so copies made before stay unchanged. Only the owner of the value may call it.
func (in *Instance) Evolve(c Commit) {
	for _, e := range c.Events {
		in.apply(c, e)
	}
	in.Seq, in.UpdatedAt = c.Seq, c.At
}

// Fold replays the commits of an instance, the oldest first.
func Fold(id string, commits []Commit) Instance {
	in := Instance{ID: id}
	for _, c := range commits {
		in = Evolve(in, c)
	}
	return in
}

// apply applies one event of a commit. Its switch names every event; one that a newer
// build wrote and this one does not know changes nothing.
func (in *Instance) apply(c Commit, e Event) {
	switch e := e.(type) {
	case Opened:
		in.Workflow, in.Definition = e.Workflow, e.Definition
		in.Issue, in.OpenedAt = e.Issue, c.At
		in.Base, in.Head = e.Base, e.Base
		if e.Bundle != "" {
			in.Bundles = appended(in.Bundles, Bundle{e.Bundle, e.Base})
		}
		for _, b := range e.Bundles {
			in.Bundles = appended(in.Bundles, b)
		}
		in.Vars, in.Parent = e.Vars, e.Parent
		for _, id := range e.After {
			in.Links = appended(in.Links, Link{Instance: id, Kind: After})
		}
		in.enter(c, e.State, e.Owner, e.Kind, e.Timeout)
	case Claimed:
		in.Claim = &ActiveClaim{e.Token, e.Role, e.Agent, c.At, e.Lease}
		in.Tokens, in.Woken, in.Direct = e.Token, false, in.Direct || e.Direct
	case LeaseExtended:
		if in.Claim != nil {
			claim := *in.Claim
			claim.Lease = e.Lease
			in.Claim = &claim
		}
	case Released:
		in.Claim = nil
		if e.Fault {
			in.Faults++
		}
	case Reported:
		in.applyResult(e)
	case Moved:
		in.Previous = in.Previous.Append(e.From)
		in.Iteration++
		in.Returns = in.returnsAfter(e.To)
		in.Loop, in.Failed = e.Loop, e.Failure
		in.Failures = countFailures(in.Failures, e)
		in.Questions = withdrawInquiries(in.Questions)
		if !e.KeepsClaim {
			in.Claim = nil
		}
		if !in.Paused {
			in.Reason = e.Reason
		}
		in.enter(c, e.To, e.Owner, e.Kind, e.Timeout)
	case Dispatched:
		in.Work, in.Direct = c.Seq, false
		in.Parked, in.Woken = nil, false
	case Signalled:
		for _, ev := range e.Evidence {
			in.Evidence = replaceByName(in.Evidence, ev)
		}
		if body := e.Data["body"]; body != "" {
			in.Notes = appended(in.Notes, NoteEntry{e.Actor, e.Name, body, c.At})
		}
	case Asked:
		in.Questions = appended(in.Questions, Question{Number: e.Number, From: e.From, To: e.To, Text: e.Text, AskedAt: c.At})
	case Answered:
		in.Questions = markAnswered(in.Questions, e)
	case Noted:
		in.Notes = appended(in.Notes, NoteEntry{e.Author, e.Kind, e.Text, c.At})
	case Spent:
		in.Spend = in.Spend.Add(e.Spend)
	case Paused:
		in.Paused, in.Reason, in.Claim = true, e.Reason, nil
	case Resumed:
		in.Paused, in.Reason, in.Faults = false, e.Reason, 0
	case CancelledBy:
		in.Closed, in.Reason, in.Claim = Cancelled, e.Reason, nil
	case Handed:
		if e.Head != "" {
			in.Head = e.Head
		}
		if e.Bundle != "" {
			in.Bundles = appended(in.Bundles, Bundle{e.Bundle, in.Head})
		}
		in.Sections = merged(in.Sections, e.Sections)
	case Escalated:
		in.Escalations = appended(in.Escalations, Escalation{
			Number: e.Number, Agent: e.Agent, Reason: e.Reason, RequiresHuman: e.RequiresHuman, At: c.At,
		})
		if e.RequiresHuman {
			in.Claim = nil
		}
	case Resolved:
		in.Escalations = slices.Clone(in.Escalations)
		for i := range in.Escalations {
			if r := &in.Escalations[i]; r.Number == e.Number {
				r.Resolved, r.Resolution, r.By = true, e.Text, e.By
			}
		}
		in.Failures, in.Returns = nil, 0
	case Remembered:
		in.Vars = merged(in.Vars, e.Vars)
	case ParkedUntil:
		in.Parked = &Parked{e.Until, e.Reason, e.Standing}
	case Woken:
		in.Woken = true
	case TimedOut:
		in.Level = e.Level
	case Spawned:
		in.Links = appended(in.Links, Link{Instance: e.Instance, Kind: Child, Workflow: e.Workflow, State: e.State})
	case LinkEnded:
		in.Links = slices.Clone(in.Links)
		for i := range in.Links {
			if l := &in.Links[i]; l.Instance == e.Instance {
				l.Ended, l.Well, l.State = true, e.Well, e.State
			}
		}
	case Migrated:
		in.Definition = e.Definition
		in.Owner, in.Kind, in.Timeout = e.Owner, e.Kind, e.Timeout
		in.Claim, in.Parked = nil, nil
		if e.Kind == workflow.Final {
			in.Closed = Ended
		}
	case ProposalRefused, StatementRefused, GateRefused, LoopDetected:
		// recorded for people; they change nothing
	}
}

// countFailures returns the failures in a row by state after a move: one more or,
// after success, none for the state that is left (task lifecycle, failure counting).
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

// enter starts a stay in a state, with the visits counted and per-stay fields reset.
func (in *Instance) enter(c Commit, state, owner string, kind workflow.Kind, timeout time.Duration) {
	at := c.At
	n, seen := len(in.Visits), in.Visited(state) > 0
	if !seen {
		n++
	}
	visits := make([]Visit, n)
	copy(visits, in.Visits)
	for i := range in.Visits {
		if visits[i].State == in.State {
			visits[i].Total += max(0, at.Sub(in.EnteredAt))
		}
		if visits[i].State == state {
			visits[i].Count++
		}
	}
	if !seen {
		visits[n-1] = Visit{State: state, Count: 1}
	}
	in.Visits = visits
	in.State, in.Owner, in.Kind = state, owner, kind
	in.Entered, in.EnteredAt = c.Seq, at
	in.Timeout, in.Level, in.Faults = timeout, "", 0
	in.Parked, in.Woken = nil, false
	if kind == workflow.Final {
		in.Closed = Ended
	}
}

// applyResult ends the claim and adds what the result brought.
func (in *Instance) applyResult(e Reported) {
	r := e.Result
	in.Claim = nil
	if e.Question == 0 { // an answer is no step: the asker goes on from the step before
		in.Last, in.LastState = &r, e.State
	}
	in.Spend = in.Spend.Add(r.Spend)
	if r.Base != "" && in.Base == "" {
		in.Base, in.Head = r.Base, r.Base
	}
	if r.Head != "" {
		in.Head = r.Head
	}
	if r.Bundle != "" {
		in.Bundles = appended(in.Bundles, Bundle{r.Bundle, in.Head})
	}
	for _, ev := range r.Evidence {
		in.Evidence = replaceByName(in.Evidence, ev)
		if ev.OK {
			in.Failure = Signature{}
		}
	}
	switch s := r.FailureSignature; {
	case s == "":
	case s == in.Failure.Value:
		in.Failure.Repeats++
	default:
		in.Failure = Signature{Value: s}
	}
	for _, a := range r.Artifacts {
		in.Artifacts = appended(in.Artifacts, a)
	}
	in.Sections = merged(in.Sections, r.Sections)
}

// merged returns all with the entries of over added or replaced. It writes to neither.
func merged(all, over map[string]string) map[string]string {
	if len(over) == 0 {
		return all
	}
	all = maps.Clone(all)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, over)
	return all
}

// replaceByName returns all with ev in place of the evidence of the same name.
func replaceByName(all []Evidence, ev Evidence) []Evidence {
	kept := slices.DeleteFunc(slices.Clone(all), func(o Evidence) bool { return o.Name == ev.Name })
	return append(kept, ev)
}

// markAnswered returns all with one question answered.
func markAnswered(all []Question, e Answered) []Question {
	all = slices.Clone(all)
	for i := range all {
		if all[i].Number == e.Number {
			all[i].Answered, all[i].Answer, all[i].By = true, e.Text, e.By
		}
	}
	return all
}

// withdrawInquiries returns all with the open questions to roles withdrawn: the
// state that asked them has been left.
func withdrawInquiries(all []Question) []Question {
	open := func(q Question) bool { return q.To != "" && !q.Answered && !q.Withdrawn }
	if !slices.ContainsFunc(all, open) {
		return all
	}
	all = slices.Clone(all)
	for i := range all {
		all[i].Withdrawn = all[i].Withdrawn || open(all[i])
	}
	return all
}

// appended returns a copy of s with v at its end. The copy has no spare capacity:
// nothing is ever appended in place.
func appended[T any](s []T, v T) []T {
	longer := make([]T, len(s)+1)
	copy(longer, s)
	longer[len(s)] = v
	return longer
}
