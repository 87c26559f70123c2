// Package merge judges whether a pull request can be merged, and whose turn it
// is: pure functions over one reading of the world. It never guesses at facts that
// could not be read.
//
// The gates are those of the story lifecycle's merge readiness, applied as
// GitHub applies its own rules and stricter where a rule is ours.
package merge

import "time"

// Snapshot is the world of one pull request, read once. All of it is about the
// one commit Head. Absent means absent only where Unread does not name the part.
type Snapshot struct {
	Repo   string    `json:"repo"` // owner/name
	Number int       `json:"number"`
	ReadAt time.Time `json:"read_at"`
	Head   string    `json:"head"`
	// Moved is where the head was when reading ended, if that was elsewhere.
	Moved string `json:"moved,omitempty"`

	Title          string   `json:"title,omitempty"`
	State          string   `json:"state"` // open or closed
	Merged         bool     `json:"merged,omitempty"`
	MergeSHA       string   `json:"merge_sha,omitempty"` // the commit it is merged as
	Draft          bool     `json:"draft,omitempty"`
	HeadRef        string   `json:"head_ref"`
	HeadRepo       string   `json:"head_repo"` // empty when the fork is gone
	BaseRef        string   `json:"base_ref"`
	Mergeable      *bool    `json:"mergeable"`       // nil while the forge computes it
	MergeableState string   `json:"mergeable_state"` // GitHub's words
	Labels         []string `json:"labels,omitempty"`
	Behind         int      `json:"behind"` // commits of the base that the head has not
	Self           Person   `json:"self"`   // whose credentials read this
	Author         Person   `json:"author"`

	Protection Protection `json:"protection"`
	Methods    []string   `json:"methods,omitempty"` // that the repository allows: merge, squash, rebase
	Checks     []Check    `json:"checks,omitempty"`
	Reviews    []Review   `json:"reviews,omitempty"`
	Decision   string     `json:"decision,omitempty"` // GitHub's reviewDecision; empty says that no rule demands a review
	// Requested are the ids of the people whose review is requested now. A person who has
	// reviewed is among them if the review was requested again.
	Requested []int64 `json:"requested,omitempty"`
	// Retargeted is when the pull request got its present base; zero if it was opened with it.
	Retargeted time.Time `json:"retargeted,omitzero"`
	Threads    []Thread  `json:"threads,omitempty"`
	Comments   []Comment `json:"comments,omitempty"`
	Pushes     []Push    `json:"pushes,omitempty"` // of the head branch
	Queued     *Queued   `json:"queued,omitempty"` // in the merge queue, where the base has one

	// The caller adds what follows: the forge does not have it.

	// Acceptance is the newest run of the story's acceptance tests.
	Acceptance Acceptance `json:"acceptance"`
	// Held names the person who holds the pull request by command, and why; empty if it is not held.
	Held string `json:"held,omitempty"`
	// Seen are the keys of the remarks that the work pushed last took into
	// account. Nil leaves it to the times of remarks and pushes.
	Seen []string `json:"seen,omitempty"`

	Unread []Unread `json:"unread,omitempty"`
}

// Part is a part of a snapshot that may be unreadable.
type Part string

// The parts of a snapshot that are read by themselves.
const (
	PartProtection  Part = "protection"
	PartChecks      Part = "checks"
	PartReviews     Part = "reviews"
	PartReviewState Part = "review state" // decision, threads and methods
	PartComments    Part = "comments"
	PartPushes      Part = "pushes"
	PartBase        Part = "base" // how far behind it the head is
	PartQueue       Part = "merge queue"
)

// Unread is a part that could not be read, and why.
type Unread struct {
	Part Part   `json:"part"`
	Why  string `json:"why"`
}

// Person is an account and what it may do. Compare by ID: logins change.
type Person struct {
	ID    int64  `json:"id"` // 0 for an account that is gone
	Login string `json:"login"`
	Bot   bool   `json:"bot,omitempty"`
	// Permission on the repository: admin, maintain, write, triage, read or
	// none; empty when it is not known.
	Permission string `json:"permission,omitempty"`
	// Member of a configured organisation: yes or no; empty when it is not known.
	Member string `json:"member,omitempty"`
}

// Protection is what a branch demands of a merge.
type Protection struct {
	Checks       []RequiredCheck `json:"checks,omitempty"`
	Strict       bool            `json:"strict,omitempty"`        // the head must have all of the base
	Approvals    int             `json:"approvals,omitempty"`     // the fewest
	CodeOwners   bool            `json:"code_owners,omitempty"`   // their approval is among them
	DismissStale bool            `json:"dismiss_stale,omitempty"` // a push ends approvals
	LastPush     bool            `json:"last_push,omitempty"`     // the last pusher's approval does not count
	Threads      bool            `json:"threads,omitempty"`       // all must be resolved
	Linear       bool            `json:"linear,omitempty"`        // no merge commits
	Queue        bool            `json:"queue,omitempty"`         // merges go through a queue, and no other way
	// Methods are the ways to merge it allows; nil for all.
	Methods []string `json:"methods,omitempty"`
	// Others are rules it has in addition to these, by GitHub's names: whether they
	// hold shows in the pull request's state only.
	Others []string `json:"others,omitempty"`
	// Partial says why of the classic protection only the required checks could
	// be read; empty when all is known.
	Partial string `json:"partial,omitempty"`
}

// RequiredCheck is a status or check that must be green.
type RequiredCheck struct {
	Name string `json:"name"`
	App  int64  `json:"app,omitempty"` // which must have reported it; 0 for anybody
}

// Check is a status or a check run on the head.
type Check struct {
	Name  string    `json:"name"`
	Kind  string    `json:"kind"`          // status or run
	ID    int64     `json:"id,omitempty"`  // of a run
	App   int64     `json:"app,omitempty"` // the App that runs it; 0 if not known
	State string    `json:"state"`         // a status's state, a finished run's conclusion, or an unfinished one's status
	Note  string    `json:"note,omitempty"`
	URL   string    `json:"url,omitempty"`
	At    time.Time `json:"at"` // when it last changed
}

// Review is a submitted review.
type Review struct {
	ID     int64     `json:"id"`
	By     Person    `json:"by"`
	State  string    `json:"state"` // APPROVED, CHANGES_REQUESTED, COMMENTED or DISMISSED
	Commit string    `json:"commit"`
	Body   string    `json:"body,omitempty"`
	URL    string    `json:"url,omitempty"`
	At     time.Time `json:"at"`
}

// Thread is a conversation on lines of the change.
type Thread struct {
	ID       string  `json:"id"`
	Resolved bool    `json:"resolved,omitempty"`
	Outdated bool    `json:"outdated,omitempty"` // the lines have changed since
	Path     string  `json:"path,omitempty"`
	Line     int     `json:"line,omitempty"` // 0 when it is no longer in the change
	Comments []int64 `json:"comments,omitempty"`
}

// Comment is a comment on the pull request, or on a line of the change.
type Comment struct {
	ID   int64     `json:"id"`
	By   Person    `json:"by"`
	Body string    `json:"body"`
	Path string    `json:"path,omitempty"` // of a comment on a line
	Line int       `json:"line,omitempty"`
	URL  string    `json:"url,omitempty"`
	At   time.Time `json:"at"` // when it was written; edits do not count
}

// Push is a move of the head branch.
type Push struct {
	After string    `json:"after"` // the commit it moved to
	By    Person    `json:"by"`
	At    time.Time `json:"at"`
}

// Queued is how a pull request stands in the merge queue of its base.
type Queued struct {
	// State is GitHub's MergeQueueEntryState, such as AWAITING_CHECKS; empty when it is not in the queue.
	State    string    `json:"state,omitempty"`
	Position int       `json:"position,omitempty"` // 1 is merged next
	By       Person    `json:"by"`                 // whoever put it in, by login
	Removed  time.Time `json:"removed"`            // when it was taken out last; zero: never
	Remover  Person    `json:"remover"`            // the queue itself is a bot, or nobody
	Reason   string    `json:"reason,omitempty"`
}

// Acceptance is a run of the acceptance tests.
type Acceptance struct {
	Commit  string  `json:"commit,omitempty"`
	Verdict Verdict `json:"verdict,omitempty"`
	Reason  string  `json:"reason,omitempty"`
}
