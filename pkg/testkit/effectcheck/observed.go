package effectcheck

import "fmt"

// Observed is the content of a forge that effects change.
type Observed struct {
	Bot   string // the login that effects are made with
	Repos []Repo
}

// Repo is one repository.
type Repo struct {
	Name     string // owner/name
	Default  string // branch
	Issues   []Issue
	Pulls    []Pull
	Comments []Comment           // of issues and pull requests
	Replies  []Comment           // on lines of a change
	Branches map[string]string   // the commit of each
	Moves    []Move              // of branches, oldest first
	Parents  map[string][]string // of every commit that a ref holds
}

// Issue is an issue that is no pull request.
type Issue struct {
	Number int
	Author string
	Labels []string
}

// Pull is a pull request.
type Pull struct {
	Number   int
	Author   string
	Body     string
	Head     string // branch
	SHA      string // of the head
	Merged   bool
	MergedBy string
	MergeSHA string
}

// Comment is a comment on an issue or a pull request, or on a line of a change.
type Comment struct {
	ID     int64
	Number int // of the issue or pull request
	Thread int64
	Author string
	Body   string
	URL    string
}

// Move is a move of a branch.
type Move struct {
	Actor         string
	Branch        string
	Before, After string // commits; zeros for none
	Kind          string // push, force_push, branch_creation, branch_deletion, pr_merge
}

func (r *Repo) address(number int) string { return fmt.Sprintf("%s#%d", r.Name, number) }

// contains reports whether the commit is the tip or in its history.
func (r *Repo) contains(tip, commit string) bool {
	seen := map[string]bool{}
	for next := []string{tip}; len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		if at == commit {
			return true
		}
		if !seen[at] {
			seen[at] = true
			next = append(next, r.Parents[at]...)
		}
	}
	return false
}
