// Package change turns changes on the forge into commands for instances. A change comes from a
// delivery of a webhook or from a list that is polled; the commands are the same. It does no I/O:
// the caller reads the forge and the log, and sends the commands.
package change

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Change is what one delivery reports: what to read, not what it says there, so that late and
// repeated deliveries change nothing.
type Change struct {
	ID            string // the same when it is delivered again
	Event, Action string
	Repo          string // owner/name; "" if it is of no repository
	Items         []Item
	Facts         []Fact
	Repositories  *Repositories // nil: it is not of the set of repositories
	Since         time.Time     // when the comment was made that it is of; zero: it is of none
	Commands      bool          // a comment that may have commands
	Configures    bool          // the repository: its configuration is read now
}

// Matters reports whether there is something to do.
func (c Change) Matters() bool { return len(c.Items)+len(c.Facts) > 0 || c.Repositories != nil }

// Item is an issue or a pull request.
type Item struct {
	Number   int
	Pull     bool
	Reopened bool // a pull request that was closed
	Gone     bool // an issue that the forge says is deleted, or in another repository
}

// Event is an event of the forge and the actions of it that matter.
type Event struct {
	Name     string
	Actions  []string // empty: the event has none
	Anywhere bool     // it need not be of a repository
	read     func(body []byte, c *Change) (missing string, err error)
}

// Events returns all that matter, and where each is read. docs/events.md has the same table, and
// what follows.
func Events() []Event {
	return []Event{
		{Name: "issues", Actions: []string{"opened", "edited", "labeled", "unlabeled", "closed", "reopened", "unlocked", transferred, deleted}, read: as(issue)},
		{Name: "issue_comment", Actions: []string{"created", "edited", "deleted"}, read: as(comment)},
		{Name: "pull_request", Actions: []string{"opened", "edited", "synchronize", "ready_for_review", "converted_to_draft", "closed", "reopened",
			"labeled", "unlabeled", "review_requested", "review_request_removed", "auto_merge_enabled", "auto_merge_disabled",
			"enqueued", "dequeued"}, read: as(pull)},
		{Name: "pull_request_review", Actions: []string{"submitted", "edited", "dismissed"}, read: as(review)},
		{Name: "pull_request_review_comment", Actions: []string{"created", "edited", "deleted"}, read: as(reviewComment)},
		{Name: "pull_request_review_thread", Actions: []string{"resolved", "unresolved"}, read: as(thread)},
		{Name: "check_run", Actions: []string{completed, rerequested}, read: as(checkRun)},
		{Name: "check_suite", Actions: []string{completed, rerequested}, read: as(checkSuite)},
		{Name: "workflow_run", Actions: []string{completed}, read: as(workflowRun)},
		{Name: "status", read: as(status)},
		{Name: "push", read: as(push)},
		{Name: "merge_group", Actions: []string{"checks_requested", "destroyed"}, read: as(mergeGroup)},
		{Name: "repository", Actions: []string{"renamed", "transferred", "archived", "unarchived", "deleted"}, Anywhere: true, read: as(repository)},
		{Name: "installation", Actions: []string{"created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"}, Anywhere: true, read: as(installation)},
		{Name: "installation_repositories", Actions: []string{"added", "removed"}, Anywhere: true, read: as(installationRepositories)},
	}
}

// ErrForm means that a delivery is not of the form that its event has.
var ErrForm = errors.New("not a delivery of this event")

// Read reads a delivery. One of an event that does not matter is of whatever form it is.
func Read(event, id string, body []byte) (Change, error) {
	c := Change{ID: id, Event: event}
	all := Events()
	n := slices.IndexFunc(all, func(e Event) bool { return e.Name == event })
	if n < 0 {
		return c, nil
	}
	missing, err := all[n].read(body, &c)
	switch {
	case err != nil:
		return Change{}, fmt.Errorf("%w: %w", ErrForm, err)
	case missing == "" && !all[n].Anywhere && strings.Count(c.Repo, "/") != 1:
		missing = "a repository"
	}
	if missing != "" {
		return c, fmt.Errorf("%w: %s without %s", ErrForm, event, missing)
	}
	if len(all[n].Actions) > 0 && !slices.Contains(all[n].Actions, c.Action) {
		return Change{ID: id, Event: event, Action: c.Action, Repo: c.Repo}, nil
	}
	return c, nil
}

// as decodes a delivery into the client library's struct of its event. A field of another type than
// the library has stays empty: the forge is ahead of it. read notes the change, and names the part
// that it lacks, "" if nothing.
func as[E any](read func(e *E, c *Change) (missing string)) func([]byte, *Change) (string, error) {
	return func(body []byte, c *Change) (string, error) {
		e := new(E)
		if err := json.Unmarshal(body, e); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
			return "", err
		}
		return read(e, c), nil
	}
}

// at notes the action of a delivery, and the repository.
func (c *Change) at(action, repo string) { c.Action, c.Repo = action, repo }
