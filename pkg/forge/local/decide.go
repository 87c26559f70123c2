package local

import (
	"fmt"
	"slices"
	"strings"
)

// opinions are the reviews that count: the newest verdict of everybody who can
// write, the author excepted. A dismissal ends a verdict and revives none.
func (f *Forge) opinions(r repo, i issue) []review {
	var last []review
	for _, w := range r.reviewsOf(i.Number) {
		if w.State == "COMMENTED" || w.Author == i.Author {
			continue
		}
		last = slices.DeleteFunc(last, func(l review) bool { return l.Author == w.Author })
		who, _ := f.state.Load().accounts.get(w.Author)
		if w.State != "DISMISSED" && f.permission(who.Login, r.fullName()) >= write {
			last = append(last, w)
		}
	}
	return last
}

// decision is GitHub's word on the reviews; empty where none is demanded.
func (f *Forge) decision(r repo, i issue) string {
	d, _ := r.demands(i.Pull.Base)
	if !d.Reviews {
		return ""
	}
	approvals := 0
	for _, w := range f.opinions(r, i) {
		if w.State == "CHANGES_REQUESTED" {
			return "CHANGES_REQUESTED"
		}
		if !d.LastPush || r.pusher(i.Pull.headRef(), i.Pull.HeadSHA) != w.Author {
			approvals++
		}
	}
	if approvals < d.Approvals {
		return "REVIEW_REQUIRED"
	}
	return "APPROVED"
}

// unmet is what the base branch demands and the pull request has not, in
// GitHub's words.
func (f *Forge) unmet(r repo, i issue) []string {
	d, _ := r.demands(i.Pull.Base)
	var why []string
	if d.Queue {
		why = append(why, "Changes must be made through the merge queue")
	}
	for _, k := range d.Checks {
		if state := r.reported(i.Pull.HeadSHA, k); state != "success" {
			why = append(why, fmt.Sprintf("Required status check %q is %s.", k.Context, state))
		}
	}
	switch f.decision(r, i) {
	case "REVIEW_REQUIRED":
		why = append(why, fmt.Sprintf("At least %d approving review is required by reviewers with write access.", d.Approvals))
	case "CHANGES_REQUESTED":
		why = append(why, "Changes have been requested by reviewers with write access.")
	}
	if d.Threads && slices.ContainsFunc(r.linesOf(i.Number), func(l lineComment) bool { return l.ReplyTo == 0 && !l.Resolved }) {
		why = append(why, "A conversation must be resolved before this pull request can be merged.")
	}
	return why
}

// reported is how the demanded check stands on the commit: success, failing,
// pending, or expected when nobody has reported it.
func (r repo) reported(sha string, wanted demandedCheck) string {
	var states []string
	for _, s := range r.latestStatuses(sha) {
		if s.Context == wanted.Context {
			states = append(states, s.State)
		}
	}
	app := deref(wanted.App, -1)
	for _, k := range r.latestChecks(sha) {
		if k.Name == wanted.Context && (app <= 0 || k.App == app) {
			states = append(states, strings.ToLower(k.Conclusion))
		}
	}
	if len(states) == 0 {
		return "expected"
	}
	return map[string]string{"success": "success", "pending": "pending", "failure": "failing"}[worst(states)]
}

// allows tells whether the repository and the branch take the way to merge, and
// why not.
func (r repo) allows(base, method string) error {
	d, _ := r.demands(base)
	name := map[string]string{"merge": "Merge commits", "squash": "Squash merges", "rebase": "Rebase merges"}[method]
	switch {
	case slices.Contains(r.Refused, method):
		return notMergeable(name + " are not allowed on this repository.")
	case d.Methods != nil && !slices.Contains(d.Methods, method):
		return notMergeable(name + " are not allowed by a rule of this branch.")
	case d.Linear && method == "merge":
		return notMergeable("This branch must not contain merge commits.")
	}
	return nil
}
