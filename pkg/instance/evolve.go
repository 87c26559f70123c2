package instance

import (
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/workflow"
)

// Evolve folds one commit into the instance. It needs no definition, never
// fails, and ignores what it does not know.
func Evolve(in Instance, c Commit) Instance {
	for _, e := range c.Events {
		in = apply(in, c, e)
	}
	in.Seq, in.UpdatedAt = c.Seq, c.At
	in.Recent = remember(in.Recent, Ref{c.ID, c.Seq})
	return in
}

// Fold replays commits from nothing.
func Fold(id string, commits []Commit) Instance {
	in := Instance{ID: id}
	for _, c := range commits {
		in = Evolve(in, c)
	}
	return in
}

func apply(in Instance, c Commit, e Event) Instance {
	switch e := e.(type) {
	case Opened:
		in.Workflow, in.Definition, in.Issue, in.OpenedAt = e.Workflow, e.Definition, e.Issue, c.At
		in.Base, in.Head = e.Base, e.Base
		if e.Bundle != "" {
			in.Bundles = with(in.Bundles, Bundle{e.Bundle, e.Base})
		}
		in = enter(in, e.State, e.Owner, e.Kind, c.At)
	case Claimed:
		in.Claim = &Claim{e.Token, e.Role, e.Agent, c.At, e.Lease}
		in.Tokens = e.Token
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
		in = report(in, e)
	case Moved:
		in.Previous = with(in.Previous, e.From)
		in.Iteration++
		in.Returns = in.returnsIn(e.To)
		in.Loop, in.Claim = e.Loop, nil
		if !in.Paused {
			in.Reason = e.Reason
		}
		in = enter(in, e.To, e.Owner, e.Kind, c.At)
	case Dispatched:
		in.Work = c.Seq
	case Signalled:
		if body := e.Data["body"]; body != "" {
			in.Notes = with(in.Notes, Note{e.Actor, e.Name, body, c.At})
		}
	case Asked:
		in.Questions = with(in.Questions, Question{Number: e.Number, From: e.From, Text: e.Text, AskedAt: c.At})
	case Answered:
		in.Questions = answer(in.Questions, e)
	case Noted:
		in.Notes = with(in.Notes, Note{e.Author, e.Kind, e.Text, c.At})
	case Spent:
		in.Spend = in.Spend.Add(e.Spend)
	case Paused:
		in.Paused, in.Reason, in.Claim = true, e.Reason, nil
	case Resumed:
		in.Paused, in.Reason, in.Faults = false, e.Reason, 0
	case CancelledBy:
		in.Closed, in.Reason, in.Claim = Cancelled, e.Reason, nil
	}
	return in
}

func enter(in Instance, state, owner string, kind workflow.Kind, at time.Time) Instance {
	visits := slices.Clone(in.Visits)
	seen := false
	for i := range visits {
		if visits[i].State == in.State {
			visits[i].Total += max(0, at.Sub(in.EnteredAt))
		}
		if visits[i].State == state {
			visits[i].Count++
			seen = true
		}
	}
	if !seen {
		visits = append(visits, Visit{State: state, Count: 1})
	}
	in.Visits = visits
	in.State, in.Owner, in.Kind, in.EnteredAt, in.Faults = state, owner, kind, at, 0
	if kind == workflow.Final {
		in.Closed = Ended
	}
	return in
}

func report(in Instance, e Reported) Instance {
	r := e.Result
	in.Claim, in.Last, in.LastState = nil, &r, e.State
	in.Spend = in.Spend.Add(r.Spend)
	if r.Base != "" && in.Base == "" {
		in.Base, in.Head = r.Base, r.Base
	}
	if r.Head != "" {
		in.Head = r.Head
	}
	if r.Bundle != "" {
		in.Bundles = with(in.Bundles, Bundle{r.Bundle, in.Head})
	}
	for _, ev := range r.Evidence {
		in.Evidence = newest(in.Evidence, ev)
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
		in.Artifacts = with(in.Artifacts, a)
	}
	return in
}

// newest replaces the evidence of the same name.
func newest(all []Evidence, ev Evidence) []Evidence {
	kept := slices.DeleteFunc(slices.Clone(all), func(o Evidence) bool { return o.Name == ev.Name })
	return append(kept, ev)
}

func answer(all []Question, e Answered) []Question {
	all = slices.Clone(all)
	for i := range all {
		if all[i].Number == e.Number {
			all[i].Answered, all[i].Answer, all[i].By = true, e.Text, e.By
		}
	}
	return all
}

func remember(refs []Ref, r Ref) []Ref {
	if len(refs) >= recentLimit {
		refs = refs[len(refs)-recentLimit+1:]
	}
	return with(refs, r)
}

// with appends without ever writing into a shared backing array. Nothing will be
// appended in place, so it leaves no room.
func with[T any](s []T, v T) []T {
	longer := make([]T, len(s)+1)
	copy(longer, s)
	longer[len(s)] = v
	return longer
}
