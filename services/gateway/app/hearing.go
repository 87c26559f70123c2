package app

import "strings"

// hearing is an event of the forge, the actions of it that are heard, and how it is read.
type hearing struct {
	event   string
	actions []string // empty: the event has none
	of      reader
}

// reader reads the deliveries of an event.
type reader interface {
	// missing names the part that a delivery of the event lacks, "" if nothing.
	missing(p payload) string
	// read notes in d what the delivery tells of.
	read(p payload, d *delivery)
}

// The actions after which an issue may be gone.
const (
	deleted     = "deleted"
	transferred = "transferred"
)

// hearings returns all that is heard. docs/events.md has the same table, and what follows.
func hearings() []hearing {
	return []hearing{
		{"issues", []string{"opened", "edited", "labeled", "unlabeled", "closed", "reopened", "unlocked", transferred, deleted}, ofIssue{}},
		{"issue_comment", []string{"created", "edited", "deleted"}, ofIssue{}},
		{"pull_request", []string{"opened", "edited", "synchronize", "ready_for_review", "converted_to_draft", "closed", "reopened",
			"labeled", "unlabeled", "review_requested", "review_request_removed", "auto_merge_enabled", "auto_merge_disabled",
			"enqueued", "dequeued"}, ofPull{}},
		{"pull_request_review", []string{"submitted", "edited", "dismissed"}, ofPull{}},
		{"pull_request_review_comment", []string{"created", "edited", "deleted"}, ofPull{}},
		{"pull_request_review_thread", []string{"resolved", "unresolved"}, ofThread{}},
		{"check_run", []string{completed, rerequested}, ofCheck{}},
		{"check_suite", []string{completed, rerequested}, ofCheck{}},
		{"workflow_run", []string{completed}, ofCheck{}},
		{"status", nil, ofStatus{}},
		{"push", nil, ofPush{}},
		{"merge_group", []string{"checks_requested", "destroyed"}, ofGroup{}},
		{"repository", []string{"renamed", "transferred", "archived", "unarchived", "deleted"}, ofSet{}},
		{"installation", []string{"created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"}, ofSet{}},
		{"installation_repositories", []string{"added", "removed"}, ofSet{}},
	}
}

// ofIssue reads what happened to an issue, and comments on issues and pull requests.
type ofIssue struct{}

func (ofIssue) missing(p payload) string {
	if p.Issue == nil || p.Issue.Number <= 0 {
		return "an issue"
	}
	return ""
}

func (ofIssue) read(p payload, d *delivery) {
	if p.Comment != nil {
		if p.Comment.User.Type == "Bot" && p.Issue.Pull == nil {
			return // a bot's word is no signal; ours is edited often
		}
		d.since = p.Comment.CreatedAt
		d.slash = strings.Contains(p.Comment.Body, "/")
	}
	d.items = []item{{number: p.Issue.Number, pull: p.Issue.Pull != nil,
		gone: d.event == "issues" && (d.action == deleted || d.action == transferred)}}
}

// ofPull reads what happened to a pull request and shows in when it was changed.
type ofPull struct{}

func (ofPull) missing(p payload) string {
	if p.Pull == nil || p.Pull.Number <= 0 {
		return "a pull request"
	}
	return ""
}

func (ofPull) read(p payload, d *delivery) {
	d.items = []item{{number: p.Pull.Number, pull: true, reopened: d.event == "pull_request" && d.action == "reopened"}}
}
