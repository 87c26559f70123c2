package instance

import (
	"fmt"

	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Proof is whether tests show that a piece of work does what its issue asks. All views
// and all services read it, and none reads evidence for it.
type Proof struct {
	Shown     bool
	Judged    bool   // tests on the newest commit were compared with those of the base
	Documents bool   // the change is of documents alone, which no test can show
	Reason    string // why nothing is shown, in a short sentence; empty if Shown
	Waived    string // the person who accepted that nothing is shown; empty if nobody did
	Evidence  string // the name of the evidence that was read; empty for none
	Judgement verdict.Judgement
}

// The answers of Proof.Policy, which are the values of the policies unproven and documents.
const (
	UnprovenAllow  = "allow"  // the work goes on
	UnprovenDraft  = "draft"  // its pull request stays a draft
	UnprovenAsk    = "ask"    // people are asked first
	UnprovenRefuse = "refuse" // the work ends
)

// Shown returns the proof of the instance's newest commit.
func (in Instance) Shown() Proof { return ProofOf(in.Evidence, in.Base, in.Head) }

// ProofOf returns the proof of the commit head by evidence, the newest of each name. base is
// the commit that the work started from. The proof is zero if there is no work yet.
func ProofOf(evidence []Evidence, base, head string) Proof {
	if head == "" || head == base {
		return Proof{}
	}
	tested := false
	for _, ev := range evidence {
		if ev.Commit != head {
			continue
		}
		if ev.Judgement == nil {
			tested = tested || ev.Command != ""
			continue
		}
		j := *ev.Judgement
		return Proof{
			Shown: j.Shown, Judged: true, Documents: j.Kind == verdict.Documents, Reason: j.Unproven, Waived: j.Waived,
			Evidence: ev.Name, Judgement: j,
		}
	}
	if tested {
		return Proof{Reason: "the tests were not compared with those of the base"}
	}
	return Proof{Reason: "the newest commit was not tested"}
}

// Unproven reports whether there is work and nothing shows that it does what its issue asks.
func (p Proof) Unproven() bool { return !p.Shown && p.Reason != "" }

// Policy returns what a lifecycle's policy wants done with the work: UnprovenAllow,
// UnprovenDraft, UnprovenAsk or UnprovenRefuse. A lifecycle without the policies unproven and
// documents allows everything.
func (p Proof) Policy(policy map[string]any) string {
	name := "unproven"
	switch {
	case !p.Unproven() || p.Waived != "":
		return UnprovenAllow
	case p.Documents:
		name = "documents"
	}
	if value, ok := policy[name]; ok {
		return fmt.Sprint(value)
	}
	return UnprovenAllow
}

// Facts returns what guards read of the evidence.
func (e Evidence) Facts() workflow.EvidenceFacts {
	f := workflow.EvidenceFacts{
		OK: e.OK, Verdict: string(e.EffectiveVerdict()), Commit: e.Commit, By: e.Role, Failed: e.Failed, Data: e.Data,
	}
	if j := e.Judgement; j != nil {
		f.Shown, f.Unproven, f.Kind, f.Waived, f.Question = j.Shown, j.Unproven, string(j.Kind), j.Waived, j.Question
	}
	return f
}
