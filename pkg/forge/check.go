package forge

import (
	"time"

	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// Status is a commit status: the newest report of a context.
type Status struct {
	Context     string
	State       string // success, pending, failure or error
	Description string
	URL         string // of the details
	At          time.Time
}

// CheckRun is a run of a check on a commit.
type CheckRun struct {
	ID          int64
	Name        string
	App         int64  // that runs it; 0 if unknown
	Status      string // queued, in_progress, completed, waiting, requested or pending
	Conclusion  string // once completed: success, failure, neutral, cancelled, skipped, timed_out, action_required, stale
	Title       string
	Summary     string // Markdown
	URL         string // of the details
	StartedAt   time.Time
	CompletedAt time.Time

	Suite    int64  // that the run is of; 0 if unknown
	Workflow string // of Actions, where several suites have runs of the name; else empty
	// WorkflowUnread is why the workflow could not be read where it is needed.
	WorkflowUnread string
	Older          int // runs of the check in older suites, which do not count
}

// NewCheckRun is a run of a check to be published.
type NewCheckRun struct {
	Name       string
	SHA        string
	Conclusion string // as in CheckRun
	Title      string
	Summary    string // Markdown
	// Annotations are shown at their lines, at most 50.
	Annotations []Annotation
}

// Failure is why a run of a check failed. All of it is text of others.
type Failure struct {
	Summary     string       // the check's own, Markdown
	Annotations []Annotation // the first ones
	Log         string       // the last lines of its job's log, up to the last error in it; empty if there is none
}

// Annotation is what a check says of a line of the code.
type Annotation struct {
	Path    string
	Line    int
	Level   string // notice, warning or failure
	Title   string
	Message string
}

// Protection is what a branch demands of a merge.
type Protection = merge.Protection

// RequiredCheck is a status or check that must be green.
type RequiredCheck = merge.RequiredCheck
