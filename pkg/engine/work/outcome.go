// Package work is the data of one claimed piece of work: the assignment, and what
// comes of it. Agents, brains and the documents of lifecycles share it.
package work

import "github.com/signalbox/signalbox/pkg/engine/instance"

// Outcome is what a brain answers.
type Outcome struct {
	Result   instance.Result // judgement only: Head, Bundle and Evidence are the runtime's
	Declared bool            // the brain stated a result; otherwise success rests on the diff
	Asked    []byte          // what it was asked, as it was given: kept as an artifact; empty: it had no such text
	Template string          // what Asked was made from, for people: the template's file, and whose it is
	Unusable error           // why another template could not be used, with file and line; nil: none
	Output   []byte          // what it printed, capped: kept as an artifact

	Asks      []instance.Inquiry   // of other roles: the work comes back with their answers
	Escalate  *Escalation          // nil: none
	GivesBack string               // why the work is given back before it is done; empty: it is not
	Notes     []instance.NoteEntry // worth keeping whatever comes of the work; Kind and Text
	Learned   []Learned            // of the repository, for those who work on it next
	Refused   []string             // what it wrote and may not, each by its name, in words
	// Unreadable reports that the brain ended well and stated a result that cannot be read, which the
	// error of Work describes. The rest of the outcome is that of a brain which states none.
	Unreadable bool
}

// Pauses reports whether the work comes back, such as when others have said something.
// The change and the sections are handed over; nothing else of the result counts.
func (o Outcome) Pauses() bool {
	return o.GivesBack != "" || len(o.Asks) > 0 || o.Escalate != nil && o.Escalate.RequiresHuman
}

// Escalation puts the matter to people. If it requires them, the work comes
// back when it is resolved.
type Escalation struct {
	Reason        string `json:"reason"`
	RequiresHuman bool   `json:"requires_human"`
}

// Learned is a fact about the repository.
type Learned struct {
	Path string `json:"path"` // file or directory that it is about; empty: the whole repository
	Text string `json:"text"`
}

// FileChange is one file that a change touches.
type FileChange struct {
	Path   string
	Status string // A added, D deleted, M modified, T changed its type
}

// Names of the evidence that checks of the code make.
const (
	Base       = "base" // of the tests, on the code as it was before any change
	Tests      = "tests"
	Lint       = "lint"
	TypeCheck  = "type_check"
	Build      = "build"      // of all checks of a build together
	Acceptance = "acceptance" // of the acceptance criteria
	Red        = "red"        // that a test fails before there is code for it; its failed tests have to pass in the end
)

// Findings is the name, in the data of evidence of tests, of what those who judge the work
// should know of the tests. That is which were set aside, how many are gone or skipped.
const Findings = "findings"

// Shape is the kind of a note with what a careful reader would stop at in a change, separated
// by "; ". The newest counts.
const Shape = "shape"
