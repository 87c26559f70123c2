package forge

import "time"

// Mention is a pull request that mentions an issue.
type Mention struct {
	Number int
	Closes bool   // merging it closes the issue
	State  string // open, closed or merged
	Author User
	URL    string // for people
}

// Push is a move of a branch.
type Push struct {
	Before, After string // commits; zeros where there was or is none
	Kind          string // push, force_push, branch_creation, branch_deletion, pr_merge or merge_queue_merge
	Actor         User   // zero if the account is deleted
	At            time.Time
}

// Commit is a commit of a pull request. Author and committer are zero if no account has
// their mail address.
type Commit struct {
	SHA       string
	Subject   string
	Author    User
	Committer User
	At        time.Time // of the committer's clock
	Parents   []string
}
