package instance_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// formatEvent returns the line of an event in the scripts.
func formatEvent(t *testing.T, e instance.Event) string {
	switch e := e.(type) {
	case instance.Opened:
		return fmt.Sprintf("opened %q in %s, %s", e.Issue.Title, e.State, e.Kind) + optional(e.Owner, " of %s") +
			optional(formatMap(e.Vars), " with %s") + optional(strings.Join(e.After, ", "), " after %s") + optional(e.Parent, " by %s")
	case instance.Dispatched:
		s := fmt.Sprintf("dispatched %s to %s", e.State, e.Owner) + optional(e.Reason, ": %s")
		if e.Question > 0 {
			s += fmt.Sprintf(" for question %d", e.Question)
		}
		return s
	case instance.Claimed:
		s := fmt.Sprintf("claimed by %s for %s until %s, token %d", e.Agent, e.Role, clock(e.Lease), e.Token) +
			optional(e.Lapsed, "; the lease of %s had run out")
		if e.Direct {
			s += "; it had waited"
		}
		return s
	case instance.LeaseExtended:
		s := fmt.Sprintf("lease of token %d extended until %s", e.Token, clock(e.Lease))
		if e.Lapsed {
			s += "; it had run out"
		}
		return s
	case instance.Released:
		how := "released"
		if e.Fault {
			how = "given up for a fault"
		}
		return fmt.Sprintf("%s by %s, token %d: %s", how, e.Agent, e.Token, e.Reason)
	case instance.Reported:
		if e.Question > 0 {
			return fmt.Sprintf("reported by %s, %s, on question %d: %s", e.Agent, e.Role, e.Question, e.Result.Status)
		}
		return fmt.Sprintf("reported by %s, %s of %s: %s, confidence %v", e.Agent, e.Role, e.State, e.Result.Status, e.Result.ConfidenceScore) +
			optional(e.Result.Head, ", head %s") + optional(e.Result.FailureSignature, ", failure %s") + formatEvidence(e.Result.Evidence) +
			optional(formatMap(e.Result.Sections), ", writes %s")
	case instance.ProposalRefused:
		return fmt.Sprintf("proposal refused: %s has no %s; permitted: %s", e.From, e.Proposed, strings.Join(e.Permitted, ", "))
	case instance.StatementRefused:
		return fmt.Sprintf("%s %s of %s, %s, set aside: %q; permitted: %s", e.What, e.Name, e.Agent, e.Role, e.Said,
			strings.Join(e.Permitted, ", "))
	case instance.GateRefused:
		return fmt.Sprintf("gate %s: %s instead of %s: %s", e.Gate, e.Instead, e.Wanted, e.Reason)
	case instance.LoopDetected:
		return "loop: " + e.Reason
	case instance.Moved:
		return fmt.Sprintf("MOVED %s → %s by %s: %s%s", e.From, e.To, e.Rule, e.Reason, formatMarks(e))
	case instance.Signalled:
		return fmt.Sprintf("signalled %s", e.Name) + optional(e.Actor, " by %s") + optional(e.Ref, ", %s") + optional(e.Data["body"], ": %q") +
			formatEvidence(e.Evidence)
	case instance.Asked:
		return fmt.Sprintf("question %d of %s", e.Number, e.From) + optional(e.To, " to %s") + ": " + e.Text
	case instance.Handed:
		return "handed over" + optional(e.Head, " at %s") + optional(e.Bundle, " in %s") + optional(formatMap(e.Sections), ", writes %s")
	case instance.Escalated:
		if e.RequiresHuman {
			return fmt.Sprintf("ESCALATED as %d by %s: %s", e.Number, e.Agent, e.Reason)
		}
		return fmt.Sprintf("escalated as %d by %s, for nobody to decide: %s", e.Number, e.Agent, e.Reason)
	case instance.Resolved:
		return fmt.Sprintf("escalation %d resolved by %s: %s", e.Number, e.By, e.Text)
	case instance.Remembered:
		return "remembered " + formatMap(e.Vars)
	case instance.ParkedUntil:
		s := "parked"
		if !e.Until.IsZero() {
			s += " until " + clock(e.Until)
		}
		if e.Standing {
			s += " as long as that holds"
		}
		return s + ": " + e.Reason
	case instance.Woken:
		return "woken: " + e.Reason
	case instance.TimedOut:
		return fmt.Sprintf("timed out in %s: %s after %v", e.State, e.Level, e.After)
	case instance.Spawned:
		return fmt.Sprintf("spawned %s: %s", e.Instance, e.Workflow) + optional(e.State, " in %s") + optional(e.Reason, ": %s")
	case instance.LinkEnded:
		return fmt.Sprintf("%s ended in %s, %s", e.Instance, e.State, wellOrBadly(e.Well))
	case instance.Migrated:
		return fmt.Sprintf("migrated in state %s", e.Kind) + optional(e.Owner, " of %s") + ": " + e.Reason
	case instance.Answered:
		return fmt.Sprintf("question %d answered by %s: %s", e.Number, e.By, e.Text)
	case instance.Noted:
		return fmt.Sprintf("noted as %s: %s", e.Kind, e.Text)
	case instance.Spent:
		return fmt.Sprintf("spent $%.2f", e.Spend.USD)
	case instance.Paused:
		return "PAUSED: " + e.Reason
	case instance.Reopened:
		return "REOPENED: " + e.Reason
	case instance.Resumed:
		return "resumed: " + e.Reason
	case instance.CancelledBy:
		return "CANCELLED: " + e.Reason
	}
	t.Fatalf("no line for %T: add one", e)
	return ""
}

func clock(t time.Time) string { return t.Format(time.TimeOnly) }

// optional formats text unless it is empty.
func optional(text, format string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(format, text)
}

func wellOrBadly(ended bool) string {
	if ended {
		return "well"
	}
	return "badly"
}

// formatMap returns a map as NAME=VALUE, sorted.
func formatMap(m map[string]string) string {
	var said []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		said = append(said, name+"="+m[name])
	}
	return strings.Join(said, " ")
}

func formatEvidence(all []instance.Evidence) string {
	var s strings.Builder
	for _, e := range all {
		verdict := "pass"
		if !e.OK {
			verdict = "fail" + optional(strings.Join(e.Failed, ", "), " in %s")
		}
		if e.Verdict != "" {
			verdict = string(e.Verdict)
		}
		fmt.Fprintf(&s, ", %s %s", e.Name, verdict)
		s.WriteString(optional(e.Commit, " on %s"))
	}
	return s.String()
}

func formatMarks(e instance.Moved) string {
	var s string
	for _, m := range []struct {
		on   bool
		name string
	}{{e.Failure, "failure"}, {e.Loop, "loop"}, {e.Override, "override"}, {e.KeepsClaim, "claimed"}, {e.ResetsFailures, "fresh"}, {e.Resumes, "resumes"},
		{e.Kind == workflow.Wait, "wait"}, {e.Kind == workflow.Final, "final"}} {
		if m.on {
			s += " [" + m.name + "]"
		}
	}
	return s + optional(strings.Join(e.Cites, ", "), " on %s")
}

// formatInstance returns the lines that show prints.
func formatInstance(in instance.Instance) []string {
	said := []string{fmt.Sprintf("%s, %s", in.State, in.Kind) + optional(in.Owner, " of %s") + optional(string(in.Closed), ", %s") +
		optional(in.Reason, ": %s")}
	if in.Paused {
		said[0] += ", paused"
	}
	if c := in.Claim; c != nil {
		said = append(said, fmt.Sprintf("claim: %s, token %d, until %s", c.Agent, c.Token, clock(c.Lease)))
	}
	var visits []string
	for _, v := range in.Visits {
		visits = append(visits, fmt.Sprintf("%s %d× %v", v.State, v.Count, v.Total))
	}
	said = append(said,
		"visits: "+strings.Join(visits, ", "),
		fmt.Sprintf("iteration %d, returns %d, loop %v, faults %d, repeats %d, work %d, spent $%.2f",
			in.Iteration, in.Returns, in.Loop, in.Faults, in.Failure.Repeats, in.Work, in.Spend.USD))
	for _, q := range in.Questions {
		s := fmt.Sprintf("question %d of %s", q.Number, q.From) + optional(q.To, " to %s") + ": " + q.Text + optional(q.Answer, " — %s")
		if q.Withdrawn {
			s += " [withdrawn]"
		}
		said = append(said, s)
	}
	said = append(said, formatDetails(in)...)
	for _, n := range in.Notes {
		said = append(said, fmt.Sprintf("note of %s, %s: %s", n.Author, n.Kind, n.Text))
	}
	return said
}

// formatDetails returns the lines that only some instances have.
func formatDetails(in instance.Instance) []string {
	var said []string
	add := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	for _, e := range in.Escalations {
		add("escalation %d of %s: %s%s", e.Number, e.Agent, e.Reason, optional(e.By, " — resolved by %s")+optional(e.Resolution, ": %s"))
	}
	for _, f := range in.Failures {
		add("failures in %s: %d", f.State, f.Count)
	}
	if len(in.Vars) > 0 {
		add("remembers %s", formatMap(in.Vars))
	}
	if len(in.Sections) > 0 {
		add("wrote %s", formatMap(in.Sections))
	}
	if p := in.Parked; p != nil {
		s := "parked"
		if !p.Until.IsZero() {
			s += " until " + clock(p.Until)
		}
		add("%s: %s", s, p.Reason)
	}
	if in.Level != "" {
		add("told of the %s", in.Level)
	}
	if in.Woken {
		add("woken")
	}
	if in.Direct {
		add("no queue has work %d", in.Work)
	}
	for _, l := range in.Links {
		s := fmt.Sprintf("%s %s%s", l.Kind, l.Instance, optional(l.State, " in %s"))
		if l.Ended {
			s += ", ended " + wellOrBadly(l.Well)
		}
		add("%s", s)
	}
	return said
}
