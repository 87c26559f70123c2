package merge

import "time"

// Rules has the demands of a story in addition to the branch's own protection. Its zero
// value is the strictest.
type Rules struct {
	// Branch is the head branch that is ours, in the repository itself.
	Branch string `json:"branch"`
	// Commit is the one we pushed last; if it is empty, the pusher of the head is judged.
	Commit string `json:"commit,omitempty"`
	// ForeignCommits accepts a head that another account pushed to our branch. It
	// still has to pass the acceptance tests.
	ForeignCommits bool `json:"foreign_commits,omitempty"`

	// Approvals is the fewest; the branch may demand more. Without Unreviewed
	// it is at least one.
	Approvals  int  `json:"approvals,omitempty"`
	Unreviewed bool `json:"unreviewed,omitempty"`
	// StaleApprovals counts approvals of an earlier commit too, unless the
	// branch ends them.
	StaleApprovals bool `json:"stale_approvals,omitempty"`
	// Bots are the accounts whose approval counts although they are bots.
	Bots []int64 `json:"bots,omitempty"`

	// Checks must be green in addition to those the branch requires.
	Checks []string `json:"checks,omitempty"`
	// RequiredOnly lets other checks than the required ones fail.
	RequiredOnly bool `json:"required_only,omitempty"`
	// AllowNoChecks takes a head without any check for green, once it has been
	// pushed for as long as Dwell; zero is 90 seconds.
	AllowNoChecks bool          `json:"allow_no_checks,omitempty"`
	Dwell         time.Duration `json:"dwell,omitempty"`
	// OwnChecks are those we report ourselves. A merge does not wait for them.
	OwnChecks []string `json:"own_checks,omitempty"`

	// Fresh demands that the head has all of the base, even if the branch does not.
	Fresh bool `json:"fresh,omitempty"`
	// OpenThreads merges over unresolved conversations, unless the branch forbids it.
	OpenThreads bool `json:"open_threads,omitempty"`
	// Holds are the labels that hold a merge; case does not matter.
	Holds []string `json:"holds,omitempty"`
	// Methods to merge by, the best first; none is squash, merge, rebase.
	Methods []string `json:"methods,omitempty"`
	// NoAcceptance is for what has no acceptance tests.
	NoAcceptance bool `json:"no_acceptance,omitempty"`
}

// dwell is how long a head may be without checks before that means that there
// are none.
const dwell = 90 * time.Second
