package app

import (
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// gateShown passes if a test shows that the work does what its story asks, or if a person
// accepted an unproven pull request by ending its draft.
const gateShown = "shown"

// Values of the variable readied: who ended the draft of the pull request.
const (
	readiedByUs     = "us"
	readiedByPerson = "person"
)

// standing is what decides the gate of the proof.
type standing struct {
	proof   instance.Proof
	policy  string // of the proof, such as instance.UnprovenDraft
	draft   bool   // the pull request is a draft now
	readied string // who ended its draft; empty: not known
}

// standing returns how the proof of the pull request's head stands.
func (t *visit) standing() standing {
	s := standing{proof: instance.ProofOf(t.job.Evidence, t.job.Base, t.snapshot.Head), draft: t.snapshot.Draft, readied: t.job.Vars["readied"]}
	// The lifecycle that opened it may have shown it. Work on top of that commit passes all
	// tests that passed there.
	if at := t.job.Vars["shown_at"]; at != "" && (at == t.snapshot.Head || s.proof.Judged && s.proof.Judgement.Base == at) {
		s.proof = instance.Proof{Shown: true}
	}
	s.policy = s.proof.Policy(t.job.Policy)
	if s.policy == instance.UnprovenAllow && t.job.Vars["unproven"] == "true" && !s.proof.Shown && s.proof.Waived == "" {
		s.policy = instance.UnprovenDraft
		s.proof.Reason = "no test showed it when the pull request was opened"
	}
	return s
}

// readiedBy returns who ended the draft, as far as a visit can tell, and the value that it
// has to keep; empty while the pull request is a draft. We end only the draft of work that
// is shown, or needs no proof. So a person ended that of unproven work.
func (s standing) readiedBy() string {
	switch {
	case s.draft:
		return ""
	case s.readied != "":
		return s.readied
	case s.policy == instance.UnprovenAllow:
		return readiedByUs
	}
	return readiedByPerson
}

// gate returns the gate of the proof.
func (s standing) gate() merge.Gate {
	g := merge.Gate{Name: gateShown, Verdict: merge.Pass}
	reason := "unproven: " + s.proof.Reason
	switch {
	case s.proof.Shown:
		g.Reason = "a test failed before the change and passes now"
	case s.policy == instance.UnprovenAllow && s.proof.Waived != "":
		g.Reason = reason + "; " + s.proof.Waived + " accepted that"
	case s.policy == instance.UnprovenAllow:
		g.Reason = "the policy asks for no proof"
	case s.policy == instance.UnprovenRefuse:
		g.Verdict, g.Reason = merge.Fail, reason+"; the policy refuses that"
	case s.policy == instance.UnprovenDraft && s.draft:
		g.Verdict, g.Reason = merge.Pending, reason+"; it stays a draft until a person marks it as ready"
	case s.policy == instance.UnprovenAsk:
		g.Verdict, g.Reason = merge.Pending, reason+"; a person accepts that, or merges it"
	case s.readiedBy() == readiedByPerson:
		g.Reason = "unproven, and a person ended the draft"
	default:
		g.Verdict, g.Reason = merge.Pending, reason+"; a person merges it, or makes it a draft and marks it as ready"
	}
	return g
}

// trailer returns the line of a merge's message that says which test shows the work to be
// right, or why none does.
func (s standing) trailer() string {
	verdict, detail := "unproven", s.proof.Reason
	if s.proof.Shown {
		verdict, detail = "shown", ""
		if tests := s.proof.Judgement.Tests; len(tests) > 0 {
			detail = tests[0].Name
		}
	}
	return strings.TrimSpace(outbound.VerdictTrailer + ": " + verdict + " " + cut(sanitize.Subject(detail), maxTitle))
}
