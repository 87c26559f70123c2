package forge

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// Checks reads the checks of a commit and what its target branch demands.
type Checks interface {
	// Statuses lists the newest status of every context on the commit.
	Statuses(ctx context.Context, repo, sha string) ([]Status, error)
	// CheckRuns lists the newest run of every check in each of the suites on the commit.
	CheckRuns(ctx context.Context, repo, sha string) ([]CheckRun, error)
	// Protection reads what the branch demands of a merge, by rulesets and by classic
	// protection.
	Protection(ctx context.Context, repo, branch string) (Protection, error)
	// Behind counts the commits of the base branch that the head does not have.
	Behind(ctx context.Context, repo, base, head string) (int, error)
}

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

// Publisher publishes checks of our own.
type Publisher interface {
	// PublishCheck creates a completed run of a check on a commit or, if id is not 0, edits
	// that run, and returns its id. It fails with ErrDenied unless the credentials are an
	// App's.
	PublishCheck(ctx context.Context, repo string, id int64, run NewCheckRun) (int64, error)
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

// Failures reads why checks failed.
type Failures interface {
	// Failure reads what the forge knows of why the run of a check failed. Parts that may not
	// be read, or are gone, are left out.
	Failure(ctx context.Context, repo string, run int64) (Failure, error)
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
