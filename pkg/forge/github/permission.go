package github

import "slices"

// Need is a permission that the product needs in a repository as a GitHub App.
type Need struct {
	Name   string // as the REST API calls it
	Access string // read or write
	// For is its use, and the part that uses it.
	For string
	// Optional is true if the product works without it, and does less.
	Optional bool
}

// Needs returns the permissions that the product needs. docs/github.md has the same table.
func Needs() []Need {
	return []Need{
		{"metadata", "read", "the gateway: repositories, their rules, and what people may do in them", false},
		{"contents", "write", "agents and the shepherd: branches, commits, merges; the gateway: the repository's configuration", false},
		{"issues", "write", "the gateway and the PM: issues, comments, labels", false},
		{"pull_requests", "write", "the PM and the shepherd: pull requests, reviews, threads", false},
		{"checks", "write", "the shepherd and the gateway: the checks of a commit; Signalbox's own findings on it", false},
		{"statuses", "read", "the shepherd: commit statuses of older CI", false},
		{"actions", "read", "the shepherd: logs of failed jobs", true},
		{"administration", "read", "the shepherd: classic branch protection; rulesets are read without it", true},
		{"merge_queues", "write", "the shepherd: putting pull requests in the merge queue, where a branch has one", true},
		{"members", "read", "the gateway: the members of the organisation", true},
	}
}

// Satisfies reports whether access, of an installation, includes what is needed.
func (n Need) Satisfies(access string) bool {
	levels := []string{"", "read", "write", "admin"}
	return slices.Index(levels, access) >= slices.Index(levels, n.Access)
}

// Events returns the events that webhooks tell the product of. GitHub sends those about
// installations to every App.
func Events() []string {
	return []string{
		"issues", "issue_comment", "pull_request", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread",
		"check_run", "check_suite", "status", "push", "merge_group", "repository",
	}
}
