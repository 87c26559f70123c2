package standing

import (
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Past is what the commits since an instance entered its state have in addition to the instance.
type Past struct {
	Rest    instance.Rest
	Fault   *Fault // the last one in the state; nil: none
	Refused []Refused
}

// Refused is a statement, a proposal or a move that was refused.
type Refused struct {
	Seq    uint64    `json:"seq"` // of the commit
	At     time.Time `json:"at"`
	Kind   string    `json:"kind"` // statement, proposal or gate
	Reason string    `json:"reason"`
}

// PastOf reads the commits since an instance entered its state. When another role gets the work, because it is asked or has
// answered, the faults before are over.
func PastOf(in instance.Instance, commits []instance.Commit) Past {
	p := Past{}
	asked := map[int]bool{}
	for _, q := range in.Questions {
		asked[q.Number] = q.To != ""
	}
	for _, c := range commits {
		p.Rest = p.Rest.With(c.Events)
		for _, e := range c.Events {
			switch e := e.(type) {
			case instance.Moved:
				p.Fault = nil
				p.Refused = slices.DeleteFunc(p.Refused, func(r Refused) bool { return r.Seq != c.Seq })
			case instance.Asked:
				if e.To != "" {
					p.Fault = nil
				}
			case instance.Answered:
				if asked[e.Number] {
					p.Fault = nil
				}
			case instance.Released:
				if e.Fault {
					p.Fault = &Fault{Reason: e.Reason, Agent: e.Agent, At: c.At}
				}
			}
			if kind, reason := refused(e); kind != "" {
				p.Refused = append(p.Refused, Refused{c.Seq, c.At, kind, reason})
			}
		}
	}
	return p
}

// refused returns the kind of an event that refuses something, and why it does. The kind is empty for all others.
func refused(e instance.Event) (kind, reason string) {
	switch e := e.(type) {
	case instance.StatementRefused:
		return "statement", e.Sentence()
	case instance.ProposalRefused:
		return "proposal", e.Proposed + " is not permitted from " + e.From
	case instance.GateRefused:
		return "gate", fmt.Sprintf("%s does not permit %s: %s", e.Gate, e.Wanted, e.Reason)
	}
	return "", ""
}
