// Package brain is what an agent thinks with: a program, a model or plain
// rules. A brain judges and edits the work tree; the runtime checks.
package brain

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
)

// Brain works one assignment in the given work tree.
type Brain interface {
	// Work returns the brain's judgement. An error wrapping ErrInfrastructure
	// means the work was not tried; any other error is a failure of the work.
	// Work returns soon after ctx ends.
	Work(ctx context.Context, a Assignment) (Outcome, error)
}

// Outcome is what a brain answers.
type Outcome struct {
	Result   instance.Result // judgement only: Head, Bundle and Evidence are the runtime's
	Declared bool            // the brain stated a result; otherwise success rests on the diff
	Output   []byte          // what it printed, capped: kept as an artifact
}

// Assignment is one claimed piece of work as a brain sees it. Its JSON form is
// the file SIGNALBOX_ASSIGNMENT names; docs/agent-protocol.md describes it.
type Assignment struct {
	Protocol  string              `json:"protocol"` // "signalbox/v1"
	Instance  string              `json:"instance"`
	Workflow  string              `json:"workflow"`
	State     string              `json:"state"`
	About     string              `json:"about"` // what the state asks for
	Role      string              `json:"role"`
	Agent     string              `json:"agent"`
	Deadline  time.Time           `json:"deadline"`
	Iteration int                 `json:"iteration"`
	Attempt   int                 `json:"attempt"` // visits to this state, this one included
	Issue     instance.Issue      `json:"issue"`
	Questions []instance.Question `json:"questions"` // all asked so far, with their answers
	Notes     []instance.Note     `json:"notes"`
	Warnings  []string            `json:"warnings"` // "loop: …"
	Previous  []string            `json:"previous_states"`
	Next      []string            `json:"next"` // the states a result may propose
	Last      *instance.Result    `json:"last_result,omitempty"`
	Evidence  []instance.Evidence `json:"evidence"` // the newest of each name
	Policy    map[string]any      `json:"policy"`
	Base      string              `json:"base,omitempty"`   // commit the work started from
	Head      string              `json:"head,omitempty"`   // commit the work is at
	Branch    string              `json:"branch,omitempty"` // the work's branch
	Dir       string              `json:"dir,omitempty"`    // the work tree, absolute
}
