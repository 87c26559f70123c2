// Package brain is what an agent thinks with: a program, a model or plain
// rules. A brain judges and edits the work tree; the runtime checks.
package brain

import (
	"context"

	"github.com/signalbox/signalbox/pkg/instance"
)

// Brain works one assignment in the given work tree.
type Brain interface {
	// Work returns the brain's judgement. An error wrapping ErrInfrastructure
	// means the work was not tried; any other error is a failure of the work.
	// With an error the outcome still holds what was printed and spent.
	// Work returns soon after ctx ends.
	Work(ctx context.Context, a Assignment) (Outcome, error)
}

// Outcome is what a brain answers.
type Outcome struct {
	Result   instance.Result // judgement only: Head, Bundle and Evidence are the runtime's
	Declared bool            // the brain stated a result; otherwise success rests on the diff
	Output   []byte          // what it printed, capped: kept as an artifact

	Asks     []instance.Inquiry   // of other roles: the work comes back with their answers
	Escalate *Escalation          // nil: none
	Notes    []instance.NoteEntry // worth keeping whatever comes of the work; Kind and Text
	Refused  []string             // what it wrote and may not, each by its name, in words
}

// Pauses reports whether the work comes back when others have said something:
// the change and the sections are handed over, and nothing else of the result
// counts.
func (o Outcome) Pauses() bool {
	return len(o.Asks) > 0 || o.Escalate != nil && o.Escalate.RequiresHuman
}

// Escalation puts the matter to people. If it requires them, the work comes
// back when it is resolved.
type Escalation struct {
	Reason        string `json:"reason"`
	RequiresHuman bool   `json:"requires_human"`
}
