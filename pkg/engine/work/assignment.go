package work

import (
	"encoding/json"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Protocol is the version of the agent protocol that assignments name.
const Protocol = "signalbox/v1"

// Assignment is one claimed piece of work as a brain sees it. Its JSON form is
// the file SIGNALBOX_ASSIGNMENT names; assignment.schema.json of pkg/agent/brain/schema describes it.
type Assignment struct {
	Protocol  string               `json:"protocol"`
	Instance  string               `json:"instance"`
	Workflow  string               `json:"workflow"`
	State     string               `json:"state"`
	About     string               `json:"about"` // what the state asks for
	Role      string               `json:"role"`
	Agent     string               `json:"agent"`
	Deadline  time.Time            `json:"deadline,omitzero"`
	Iteration int                  `json:"iteration"`
	Attempt   int                  `json:"attempt"`       // visits to this state, this one included
	Failures  int                  `json:"failures"`      // of this state in a row
	Work      workflow.WorkSpec    `json:"work,omitzero"` // the work in addition to thinking
	Opened    time.Time            `json:"opened_at,omitzero"`
	Entered   time.Time            `json:"entered_at,omitzero"`
	Issue     instance.Issue       `json:"issue"`
	Question  *instance.Question   `json:"question,omitempty"` // of another role: the work is to answer it
	Questions []instance.Question  `json:"questions"`          // all asked so far, of people and roles, with their answers
	Notes     []instance.NoteEntry `json:"notes"`
	Warnings  []string             `json:"warnings"` // "loop: …"
	Previous  []string             `json:"previous_states"`
	Next      []string             `json:"next"` // the states a result may propose
	Last      *instance.Result     `json:"last_result,omitempty"`
	Evidence  []instance.Evidence  `json:"evidence"` // the newest of each name
	Policy    map[string]any       `json:"policy"`
	Vars      map[string]string    `json:"vars"` // what the instance remembers; data of the same name sets it

	Sections    map[string]json.RawMessage `json:"sections"` // the instance's document
	Writes      []string                   `json:"writes"`   // sections of it that a result may have
	Escalations []instance.Escalation      `json:"escalations"`

	Base      string `json:"base,omitempty"`       // commit the work started from
	Head      string `json:"head,omitempty"`       // commit the work is at
	Branch    string `json:"branch,omitempty"`     // the work's branch
	Dir       string `json:"dir,omitempty"`        // the work tree, absolute
	StateFile string `json:"state_file,omitempty"` // the document, in the directory the brain runs in
	Shared    string `json:"-"`                    // git objects the work tree borrows: a sandbox must let the brain read them
	Brief     Brief  `json:"-"`
	// Report is the whole report as a text, where the issue has only its beginning and its end.
	Report string `json:"-"`
}

// Encode is the assignment's JSON, in which no list and no object is null.
func (a Assignment) Encode() ([]byte, error) {
	if a.Protocol == "" {
		a.Protocol = Protocol
	}
	a.Questions = filled(a.Questions)
	a.Notes = filled(a.Notes)
	a.Warnings = filled(a.Warnings)
	a.Previous = filled(a.Previous)
	a.Next = filled(a.Next)
	a.Evidence = filled(a.Evidence)
	a.Writes = filled(a.Writes)
	a.Escalations = filled(a.Escalations)
	a.Policy = keyed(a.Policy)
	a.Vars = keyed(a.Vars)
	a.Sections = keyed(a.Sections)
	return json.MarshalIndent(a, "", "  ")
}

func filled[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func keyed[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}
