package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Account is a user, a bot or an organisation.
type Account struct {
	ID      int64     `json:"id"`
	Login   string    `json:"login"`
	Type    string    `json:"type"`
	Created time.Time `json:"created"`
}

// Repository is the row of the repository itself.
type Repository struct {
	ID      int64     `json:"id"`
	Owner   string    `json:"owner"`
	Name    string    `json:"name"`
	Branch  string    `json:"branch"` // the default one
	Created time.Time `json:"created"`
	Pushed  time.Time `json:"pushed"`
	// Refused lists the merge methods that it does not allow.
	Refused []string `json:"refused_methods,omitempty"`
	// Archived: nothing in it can be changed.
	Archived bool `json:"archived,omitempty"`
	// Dir is where its git repository is, as owner/name; empty: at its name.
	Dir string `json:"dir,omitempty"`
}

// Label is a label of a repository.
type Label struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	Color       string `json:"color"`
	Description string `json:"description"`
}

// Issue is an issue, or the issue half of a pull request.
type Issue struct {
	ID       int64      `json:"id"`
	Number   int64      `json:"number"`
	Title    string     `json:"title"`
	Body     string     `json:"body"`
	State    string     `json:"state"`
	Reason   string     `json:"reason,omitempty"`
	Locked   bool       `json:"locked,omitempty"`
	Labels   []string   `json:"labels,omitempty"`
	Labelled []Labelled `json:"labelled,omitempty"` // who set the labels that it has
	Author   int64      `json:"author"`
	Created  time.Time  `json:"created"`
	Updated  time.Time  `json:"updated"`
	Closed   *time.Time `json:"closed,omitempty"`
	ClosedBy int64      `json:"closed_by,omitempty"`
	Pull     *Pull      `json:"pull,omitempty"`
	Gone     *Gone      `json:"gone,omitempty"`    // it is not here any more
	Edit     *Edit      `json:"edit,omitempty"`    // the last one of its text
	Renamed  *Edit      `json:"renamed,omitempty"` // the last one of its title
}

// Gone is where an issue was transferred to. Without a repository it was deleted.
type Gone struct {
	Repo   int64 `json:"repo,omitempty"`
	Number int64 `json:"number,omitempty"`
}

// Labelled is who set a label of an issue.
type Labelled struct {
	Label string    `json:"label"`
	By    int64     `json:"by"`
	At    time.Time `json:"at"`
}

// Label returns the issue with other labels. Those that it had keep who set them.
func (i Issue) Label(labels []string, by int64, at time.Time) Issue {
	was := i.Labelled
	i.Labels, i.Labelled = labels, nil
	for _, label := range labels {
		who := Labelled{label, by, at}
		for _, w := range was {
			if w.Label == label {
				who = w
			}
		}
		i.Labelled = append(i.Labelled, who)
	}
	return i
}

// Pull is the pull request half of an issue. The commits are those last seen in git
// while it was open.
type Pull struct {
	Head     string     `json:"head"`
	Base     string     `json:"base"`
	HeadSHA  string     `json:"head_sha"`
	BaseSHA  string     `json:"base_sha"`
	Draft    bool       `json:"draft,omitempty"`
	Merging  *Merging   `json:"merging,omitempty"`
	Merged   *time.Time `json:"merged,omitempty"`
	MergedBy int64      `json:"merged_by,omitempty"`
	MergeSHA string     `json:"merge_sha,omitempty"`
	Asked    []int64    `json:"asked,omitempty"` // reviewers requested
	Queued   *Queued    `json:"queued,omitempty"`
	Unqueued *Unqueued  `json:"unqueued,omitempty"` // how its last place in the queue ended without a merge
	Before   string     `json:"before,omitempty"`   // the base that it had before
	Rebased  *Edit      `json:"rebased,omitempty"`  // the last change of its base
}

// Queued is a place in the merge queue of the base.
type Queued struct {
	At    time.Time `json:"at"`
	By    int64     `json:"by"`
	Head  string    `json:"head"`            // another head ends it
	Group string    `json:"group,omitempty"` // the commit that merges the first of the queue, whose checks decide
	On    string    `json:"on,omitempty"`    // the commit of the base that Group was made on
}

// Unqueued is the end of a place in the merge queue.
type Unqueued struct {
	At     time.Time `json:"at"`
	By     int64     `json:"by,omitempty"` // 0 for the queue itself
	Reason string    `json:"reason"`
}

// Merging is a merge that was decided. It is written before the base branch moves, so
// that a forge killed in between knows at its next start what it did.
type Merging struct {
	SHA string `json:"sha"`
	By  int64  `json:"by"`
}

// Comment is a comment on an issue or a pull request.
type Comment struct {
	ID      int64     `json:"id"`
	Issue   int64     `json:"issue"` // its number
	Body    string    `json:"body"`
	Author  int64     `json:"author"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	Deleted bool      `json:"deleted,omitempty"`
	Edit    *Edit     `json:"edit,omitempty"` // the last one of its text
}

// Edit is who edited a text, and when.
type Edit struct {
	By int64     `json:"by"`
	At time.Time `json:"at"`
}

// Mark is a reaction to a comment.
type Mark struct {
	ID      int64     `json:"id"`
	Comment int64     `json:"comment"`
	Content string    `json:"content"`
	By      int64     `json:"by"`
	At      time.Time `json:"at"`
	Deleted bool      `json:"deleted,omitempty"`
}

// Review is a review of a pull request.
type Review struct {
	ID        int64     `json:"id"`
	Pull      int64     `json:"pull"` // its number
	State     string    `json:"state"`
	Body      string    `json:"body"`
	Commit    string    `json:"commit"`
	Author    int64     `json:"author"`
	Submitted time.Time `json:"submitted"`
}

// Status is a commit status.
type Status struct {
	ID          int64     `json:"id"`
	SHA         string    `json:"sha"`
	State       string    `json:"state"`
	Context     string    `json:"context"`
	Description string    `json:"description"`
	TargetURL   string    `json:"target_url"`
	Creator     int64     `json:"creator"`
	Created     time.Time `json:"created"`
}

// Check is a check run.
type Check struct {
	ID         int64      `json:"id"`
	SHA        string     `json:"sha"`
	Name       string     `json:"name"`
	Status     string     `json:"status"`
	Conclusion string     `json:"conclusion,omitempty"`
	DetailsURL string     `json:"details_url,omitempty"`
	ExternalID string     `json:"external_id,omitempty"`
	Title      string     `json:"title,omitempty"`
	Summary    string     `json:"summary,omitempty"`
	Text       string     `json:"text,omitempty"`
	Started    *time.Time `json:"started,omitempty"`
	Completed  *time.Time `json:"completed,omitempty"`
	App        int64      `json:"app,omitempty"` // the bot that runs it

	Annotations []Annotation `json:"annotations,omitempty"`
}

// Annotation is what a check says of lines of a file, as REST spells it.
type Annotation struct {
	Path    string `json:"path"`
	Start   int    `json:"start_line"`
	End     int    `json:"end_line"`
	Level   string `json:"annotation_level"` // notice, warning or failure
	Title   string `json:"title,omitempty"`
	Message string `json:"message"`
	Details string `json:"raw_details,omitempty"`
}

func (a Account) key() int64 { return a.ID }
func (l Label) key() int64   { return l.ID }
func (i Issue) key() int64   { return i.Number }
func (c Comment) key() int64 { return c.ID }
func (r Review) key() int64  { return r.ID }
func (s Status) key() int64  { return s.ID }
func (c Check) key() int64   { return c.ID }

// FullName returns owner/name.
func (r Repository) FullName() string { return r.Owner + "/" + r.Name }

// Path returns where its git repository is, as owner/name. A new name does not change it.
func (r Repository) Path() string { return cmp.Or(r.Dir, r.FullName()) }

// Push is a move of a branch.
type Push struct {
	ID     int64     `json:"id"`
	Ref    string    `json:"ref"`
	Before string    `json:"before"`
	After  string    `json:"after"`
	Kind   string    `json:"kind"`
	Actor  int64     `json:"actor"`
	At     time.Time `json:"at"`
}

// LineComment is a comment on a line of a change. The first one of a thread stands
// for the thread.
type LineComment struct {
	ID       int64     `json:"id"`
	Pull     int64     `json:"pull"` // its number
	Review   int64     `json:"review"`
	ReplyTo  int64     `json:"reply_to,omitempty"`
	Body     string    `json:"body"`
	Author   int64     `json:"author"`
	Path     string    `json:"path"`
	Line     int       `json:"line"` // in the file of the commit
	Commit   string    `json:"commit"`
	Hunk     string    `json:"hunk"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Resolved bool      `json:"resolved,omitempty"` // the thread
	Deleted  bool      `json:"deleted,omitempty"`
}

// Ruleset is rules for some branches.
type Ruleset struct {
	ID       int64     `json:"id"`
	Name     string    `json:"name"`
	Active   bool      `json:"active"`
	Branches []string  `json:"branches"` // full refs, or ~DEFAULT_BRANCH, or ~ALL
	Rules    []Rule    `json:"rules"`
	Created  time.Time `json:"created"`
	Deleted  bool      `json:"deleted,omitempty"`
}

// Rule is one rule in GitHub's form.
type Rule struct {
	Type       string          `json:"type"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// Guard is the classic protection of a branch.
type Guard struct {
	ID      int64    `json:"id"`
	Branch  string   `json:"branch"`
	Demands *Demands `json:"demands"` // nil if it was removed
}

// Demands is what must be true of a pull request before it can be merged.
type Demands struct {
	Checks       []DemandedCheck `json:"checks,omitempty"`
	Strict       bool            `json:"strict,omitempty"`  // the head must contain the base
	Reviews      bool            `json:"reviews,omitempty"` // a pull request with Approvals approvals
	Approvals    int             `json:"approvals,omitempty"`
	CodeOwners   bool            `json:"code_owners,omitempty"` // one of each changed file's must approve
	DismissStale bool            `json:"dismiss_stale,omitempty"`
	LastPush     bool            `json:"last_push,omitempty"`
	Threads      bool            `json:"threads,omitempty"`
	Linear       bool            `json:"linear,omitempty"`
	Queue        bool            `json:"queue,omitempty"`
	QueueMethod  string          `json:"queue_method,omitempty"` // merge, squash or rebase
	Methods      []string        `json:"methods,omitempty"`      // nil for all
}

// DemandedCheck is a check that must be green. A nil or negative App is any app.
type DemandedCheck struct {
	Context string `json:"context"`
	App     *int64 `json:"app_id,omitempty"`
}

// ZeroSHA stands for the commit of a ref that does not exist.
const ZeroSHA = "0000000000000000000000000000000000000000"

func (p Push) key() int64        { return p.ID }
func (m Mark) key() int64        { return m.ID }
func (l LineComment) key() int64 { return l.ID }
func (r Ruleset) key() int64     { return r.ID }
func (g Guard) key() int64       { return g.ID }

// Email returns the address of the account in commits that the forge makes for it.
func (a Account) Email() string { return fmt.Sprintf("%d+%s@users.noreply.localhost", a.ID, a.Login) }

// Takes reports whether the repository allows the merge method.
func (r Repository) Takes(method string) bool { return !slices.Contains(r.Refused, method) }

// Open reports whether the issue is an open pull request.
func (i Issue) Open() bool { return i.Pull != nil && i.State == "open" }

// HeadRef returns the full ref of the head branch.
func (p Pull) HeadRef() string { return "refs/heads/" + p.Head }

// BaseRef returns the full ref of the base branch.
func (p Pull) BaseRef() string { return "refs/heads/" + p.Base }
