// Package rules decides what a branch demands of a pull request, by classic protection
// and rulesets, and whether the pull request meets it.
package rules

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// Of returns what the branch demands, and false if nothing protects it.
func Of(r store.Repo, branch string) (store.Demands, bool) {
	all, protected := store.Demands{}, false
	if g := r.Guard(branch); g != nil {
		all, protected = *g, true
	}
	for _, s := range r.RulesetsOf(branch) {
		for _, one := range s.Rules {
			all, protected = and(all, one), true
		}
	}
	return all, protected
}

// and returns the demands with those of the rule.
func and(d store.Demands, one store.Rule) store.Demands {
	switch one.Type {
	case "merge_queue":
		var in queueRule
		_ = json.Unmarshal(one.Parameters, &in)
		d.Queue, d.QueueMethod = true, cmp.Or(strings.ToLower(in.Method), "merge")
	case "required_linear_history":
		d.Linear = true
	case "required_status_checks":
		var in statusRule
		_ = json.Unmarshal(one.Parameters, &in) // Check has parsed it
		for _, c := range in.Checks {
			d.Checks = append(d.Checks, store.DemandedCheck{Context: c.Context, App: c.App})
		}
		d.Strict = d.Strict || in.Strict
	case "pull_request":
		var in pullRule
		_ = json.Unmarshal(one.Parameters, &in)
		d.Reviews, d.Approvals = true, max(d.Approvals, in.Approvals)
		d.DismissStale, d.CodeOwners = d.DismissStale || in.DismissStale, d.CodeOwners || in.CodeOwners
		d.LastPush, d.Threads = d.LastPush || in.LastPush, d.Threads || in.Threads
		if in.Methods != nil {
			before := d.Methods
			d.Methods = slices.DeleteFunc(slices.Clone(*in.Methods), func(m string) bool {
				return before != nil && !slices.Contains(before, m)
			})
		}
	}
	return d
}

// statusRule, pullRule and queueRule are the parameters of the rules that have any.
type statusRule struct {
	Checks []struct {
		Context string `json:"context"`
		App     *int64 `json:"integration_id,omitempty"`
	} `json:"required_status_checks"`
	Strict bool `json:"strict_required_status_checks_policy"`
}

type pullRule struct {
	Approvals    int       `json:"required_approving_review_count"`
	DismissStale bool      `json:"dismiss_stale_reviews_on_push"`
	CodeOwners   bool      `json:"require_code_owner_review"`
	LastPush     bool      `json:"require_last_push_approval"`
	Threads      bool      `json:"required_review_thread_resolution"`
	Methods      *[]string `json:"allowed_merge_methods,omitempty"`
}

type queueRule struct {
	Method string `json:"merge_method"` // MERGE, SQUASH or REBASE
}

var (
	// ErrNoType means that a rule has no type.
	ErrNoType = errors.New("a rule without a type")
	// ErrParameters means that the parameters of a rule cannot be parsed.
	ErrParameters = errors.New("parameters that the rule does not have")
)

// Check fails with ErrNoType or ErrParameters.
func Check(r store.Rule) error {
	var into any
	switch r.Type {
	case "":
		return ErrNoType
	case "required_status_checks":
		into = &statusRule{}
	case "pull_request":
		into = &pullRule{}
	case "merge_queue":
		if len(r.Parameters) == 0 {
			return nil
		}
		into = &queueRule{}
	default:
		return nil
	}
	if json.Unmarshal(r.Parameters, into) != nil {
		return ErrParameters
	}
	if q, ok := into.(*queueRule); ok && !slices.Contains([]string{"", "MERGE", "SQUASH", "REBASE"}, q.Method) {
		return ErrParameters
	}
	return nil
}

// Judge decides on one pull request.
type Judge struct {
	Repo  store.Repo
	Issue store.Issue // the pull request
	// CanWrite reports whether the account may write to the repository.
	CanWrite func(account int64) bool
	// Owners are the code owners of the changed files, a list for each line of CODEOWNERS
	// that decides on one of them. Only ToAsk, and a base that demands their review, need it.
	Owners [][]store.Account
}

// opinions returns the reviews that count: the newest verdict of each account that can
// write, the author excepted. A dismissal ends a verdict and revives none.
func (j Judge) opinions() []store.Review {
	var last []store.Review
	for _, w := range j.Repo.ReviewsOf(j.Issue.Number) {
		if w.State == "COMMENTED" || w.Author == j.Issue.Author {
			continue
		}
		last = slices.DeleteFunc(last, func(l store.Review) bool { return l.Author == w.Author })
		if w.State != "DISMISSED" && j.CanWrite(w.Author) {
			last = append(last, w)
		}
	}
	return last
}

// approved returns the accounts whose approvals count.
func (j Judge) approved() []int64 {
	d, _ := Of(j.Repo, j.Issue.Pull.Base)
	var by []int64
	for _, w := range j.opinions() {
		if w.State == "APPROVED" && (!d.LastPush || j.Repo.Pusher(j.Issue.Pull.HeadRef(), j.Issue.Pull.HeadSHA) != w.Author) {
			by = append(by, w.Author)
		}
	}
	return by
}

// Decision returns GitHub's summary of the reviews: CHANGES_REQUESTED, REVIEW_REQUIRED
// or APPROVED, "" if no review is demanded.
func (j Judge) Decision() string {
	d, _ := Of(j.Repo, j.Issue.Pull.Base)
	approved := j.approved()
	switch {
	case !d.Reviews:
		return ""
	case slices.ContainsFunc(j.opinions(), func(w store.Review) bool { return w.State == "CHANGES_REQUESTED" }):
		return "CHANGES_REQUESTED"
	case len(approved) < d.Approvals, len(j.awaited(approved)) > 0:
		return "REVIEW_REQUIRED"
	}
	return "APPROVED"
}

// missing says, in GitHub's words, which review is required. Where a code owner's is, GitHub
// does not say that there are too few approvals as well.
func (j Judge) missing() string {
	if owners := j.awaited(j.approved()); len(owners) > 0 {
		return "Waiting on code owner review from " + andOr(owners) + "."
	}
	d, _ := Of(j.Repo, j.Issue.Pull.Base)
	return fmt.Sprintf("At least %d approving review is required by reviewers with write access.", d.Approvals)
}

// Unmet returns, in GitHub's words, the demands of the base branch that the pull
// request does not meet.
func (j Judge) Unmet() []string {
	if d, _ := Of(j.Repo, j.Issue.Pull.Base); d.Queue {
		return append([]string{"Changes must be made through the merge queue"}, j.UnmetBeforeQueue()...)
	}
	return j.UnmetBeforeQueue()
}

// UnmetBeforeQueue returns what Unmet does, apart from the merge queue.
func (j Judge) UnmetBeforeQueue() []string {
	d, _ := Of(j.Repo, j.Issue.Pull.Base)
	var why []string
	for _, k := range d.Checks {
		if state := reported(j.Repo, j.Issue.Pull.HeadSHA, k); state != "success" {
			why = append(why, fmt.Sprintf("Required status check %q is %s.", k.Context, state))
		}
	}
	switch j.Decision() {
	case "REVIEW_REQUIRED":
		why = append(why, j.missing())
	case "CHANGES_REQUESTED":
		why = append(why, "Changes have been requested by reviewers with write access.")
	}
	open := func(l store.LineComment) bool { return l.ReplyTo == 0 && !l.Resolved }
	if d.Threads && slices.ContainsFunc(j.Repo.LinesOf(j.Issue.Number), open) {
		why = append(why, "A conversation must be resolved before this pull request can be merged.")
	}
	return why
}

// Group sums up the demanded checks of a commit in the merge queue: success, failing or
// pending.
func Group(r store.Repo, base, sha string) string {
	d, _ := Of(r, base)
	sum := "success"
	for _, k := range d.Checks {
		switch reported(r, sha, k) {
		case "failing":
			return "failing"
		case "pending", "expected":
			sum = "pending"
		}
	}
	return sum
}

// reported returns the state of the demanded check on the commit: success, failing,
// pending, or expected if it was not reported.
func reported(r store.Repo, sha string, wanted store.DemandedCheck) string {
	var states []string
	for _, s := range r.LatestStatuses(sha) {
		if s.Context == wanted.Context {
			states = append(states, s.State)
		}
	}
	anyApp := wanted.App == nil || *wanted.App <= 0
	for _, k := range r.LatestChecks(sha) {
		if k.Name == wanted.Context && (anyApp || k.App == *wanted.App) {
			states = append(states, strings.ToLower(k.Conclusion))
		}
	}
	if len(states) == 0 {
		return "expected"
	}
	return map[string]string{"success": "success", "pending": "pending", "failure": "failing"}[Worst(states)]
}

// Worst sums up states and conclusions as failure, pending or success, "" if there are
// none.
func Worst(states []string) string {
	sum := ""
	for _, s := range states {
		switch s {
		case "success", "neutral", "skipped":
			sum = cmp.Or(sum, "success")
		case "pending", "":
			if sum != "failure" {
				sum = "pending"
			}
		default:
			sum = "failure"
		}
	}
	return sum
}

// Verdict sums up the statuses and check runs of the commit, as Worst does.
func Verdict(r store.Repo, sha string) string {
	var states []string
	for _, s := range r.LatestStatuses(sha) {
		states = append(states, s.State)
	}
	for _, k := range r.LatestChecks(sha) {
		states = append(states, strings.ToLower(k.Conclusion))
	}
	return Worst(states)
}

// MethodRefused returns, in GitHub's words, why pull requests into the base branch
// cannot be merged by the method, "" if they can.
func MethodRefused(r store.Repo, base, method string) string {
	d, _ := Of(r, base)
	name := map[string]string{"merge": "Merge commits", "squash": "Squash merges", "rebase": "Rebase merges"}[method]
	switch {
	case !r.Takes(method):
		return name + " are not allowed on this repository."
	case d.Methods != nil && !slices.Contains(d.Methods, method):
		return name + " are not allowed by a rule of this branch."
	case d.Linear && method == "merge":
		return "This branch must not contain merge commits."
	}
	return ""
}
