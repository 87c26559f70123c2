package instance_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// line tells one event in words, for the scripts.
func line(t *testing.T, e instance.Event) string {
	switch e := e.(type) {
	case instance.Opened:
		return fmt.Sprintf("opened %q in %s, %s of %s", e.Issue.Title, e.State, e.Kind, e.Owner)
	case instance.Dispatched:
		return fmt.Sprintf("dispatched %s to %s", e.State, e.Owner)
	case instance.Claimed:
		return fmt.Sprintf("claimed by %s for %s until %s, token %d", e.Agent, e.Role, clock(e.Lease), e.Token) + also(e.Lapsed, "; the lease of %s had run out")
	case instance.LeaseExtended:
		return fmt.Sprintf("lease of token %d extended until %s", e.Token, clock(e.Lease))
	case instance.Released:
		how := "released"
		if e.Fault {
			how = "given up for a fault"
		}
		return fmt.Sprintf("%s by %s, token %d: %s", how, e.Agent, e.Token, e.Reason)
	case instance.Reported:
		return fmt.Sprintf("reported by %s, %s of %s: %s, confidence %v", e.Agent, e.Role, e.State, e.Result.Status, e.Result.ConfidenceScore) +
			also(e.Result.Head, ", head %s") + also(e.Result.FailureSignature, ", failure %s") + checks(e.Result.Evidence)
	case instance.ProposalRefused:
		return fmt.Sprintf("proposal refused: %s has no %s; permitted: %s", e.From, e.Proposed, strings.Join(e.Permitted, ", "))
	case instance.GateRefused:
		return fmt.Sprintf("gate %s: %s instead of %s: %s", e.Gate, e.Instead, e.Wanted, e.Reason)
	case instance.LoopDetected:
		return "loop: " + e.Reason
	case instance.Moved:
		return fmt.Sprintf("MOVED %s → %s by %s: %s%s", e.From, e.To, e.Rule, e.Reason, marks(e))
	case instance.Signalled:
		return fmt.Sprintf("signalled %s", e.Name) + also(e.Actor, " by %s") + also(e.Ref, ", %s") + also(e.Data["body"], ": %q")
	case instance.Asked:
		return fmt.Sprintf("question %d of %s: %s", e.Number, e.From, e.Text)
	case instance.Answered:
		return fmt.Sprintf("question %d answered by %s: %s", e.Number, e.By, e.Text)
	case instance.Noted:
		return fmt.Sprintf("noted as %s: %s", e.Kind, e.Text)
	case instance.Spent:
		return fmt.Sprintf("spent $%.2f", e.Spend.USD)
	case instance.Paused:
		return "PAUSED: " + e.Reason
	case instance.Resumed:
		return "resumed: " + e.Reason
	case instance.CancelledBy:
		return "CANCELLED: " + e.Reason
	}
	t.Fatalf("no line for %T: add one", e)
	return ""
}

func clock(t time.Time) string { return t.Format(time.TimeOnly) }

// also formats what is there.
func also(text, format string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(format, text)
}

func checks(all []instance.Evidence) string {
	var s strings.Builder
	for _, e := range all {
		verdict := "pass"
		if !e.OK {
			verdict = "fail in " + strings.Join(e.Failed, ", ")
		}
		fmt.Fprintf(&s, ", %s %s on %s", e.Name, verdict, e.Commit)
	}
	return s.String()
}

func marks(e instance.Moved) string {
	var s string
	for _, m := range []struct {
		on   bool
		name string
	}{{e.Failure, "failure"}, {e.Loop, "loop"}, {e.Override, "override"}, {e.Kind == workflow.Wait, "wait"}, {e.Kind == workflow.Final, "final"}} {
		if m.on {
			s += " [" + m.name + "]"
		}
	}
	return s
}

// picture tells where an instance is.
func picture(in instance.Instance) []string {
	said := []string{fmt.Sprintf("%s, %s", in.State, in.Kind) + also(in.Owner, " of %s") + also(string(in.Closed), ", %s") + also(in.Reason, ": %s")}
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
		said = append(said, fmt.Sprintf("question %d of %s: %s", q.Number, q.From, q.Text)+also(q.Answer, " — %s"))
	}
	for _, n := range in.Notes {
		said = append(said, fmt.Sprintf("note of %s, %s: %s", n.Author, n.Kind, n.Text))
	}
	return said
}
