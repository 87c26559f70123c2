package instance

import "github.com/signalbox/signalbox/pkg/engine/verdict"

// keptHead stands for the head of a closed instance, whose commits are not kept in memory.
const keptHead = "kept"

// Outline returns the part of a proof that lists show: whether tests show the work, whether
// it is of documents alone, and why nothing shows it. All are zero if the tests were not
// compared with those of the base.
func (p Proof) Outline() (shown, documents bool, unproven string) {
	if !p.Judged {
		return false, false, ""
	}
	return p.Shown, p.Documents, p.Reason
}

// KeptProof returns a head and evidence from which Shown returns the outline of the proof:
// whether there is one, and the reason if there is none. Views of a closed instance need no
// more, and its evidence is not kept in memory. Both are empty if there is no work to prove.
func KeptProof(shown, documents bool, unproven string) (head string, evidence []Evidence) {
	if !shown && unproven == "" {
		return "", nil
	}
	kind := verdict.Code
	if documents {
		kind = verdict.Documents
	}
	return keptHead, []Evidence{{Name: "tests", Commit: keptHead, Judgement: &verdict.Judgement{Kind: kind, Shown: shown, Unproven: unproven}}}
}
