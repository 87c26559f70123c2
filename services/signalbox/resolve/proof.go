package resolve

import (
	"encoding/json"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/work"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// requireShown is the value of --require that makes an unproven branch a failure.
const requireShown = "shown"

// proofOf returns the proof of the newest commit of an instance.
func proofOf(in *pb.Instance) instance.Proof {
	return instance.ProofOf(wire.ToEvidence(in.GetEvidence()), in.GetBase(), in.GetHead())
}

// ending returns the last line of a run that has a branch, and ErrUnproven if the branch is
// not as --require wants it. The line begins with "shown" or "UNPROVEN". It is empty if there
// is no work to prove.
func ending(proof instance.Proof, require string) (line string, err error) {
	line = proof.Sentence()
	if proof.Shown {
		line = "shown: " + line
	}
	if require == requireShown && !proof.Shown {
		err = ErrUnproven
	}
	return line, err
}

// evidenceOf returns the criteria of an instance with the tests that show them, as the text of
// its pull request has them.
func evidenceOf(in *pb.Instance) *rules.ChangeEvidence {
	a := work.Assignment{
		Issue: wire.ToIssue(in.GetIssue()), Questions: wire.ToQuestions(in.GetQuestions()), Evidence: wire.ToEvidence(in.GetEvidence()),
		Base: in.GetBase(), Head: in.GetHead(), Vars: in.GetVars(), Sections: map[string]json.RawMessage{},
	}
	for name, text := range in.GetSections() {
		a.Sections[name] = json.RawMessage(text)
	}
	return rules.EvidenceOf(a)
}
