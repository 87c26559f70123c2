package local

import (
	"encoding/json"
	"slices"
)

// demands is what a branch asks of a merge, by classic protection and rulesets
// together.
type demands struct {
	Checks       []demandedCheck `json:"checks,omitempty"`
	Strict       bool            `json:"strict,omitempty"`
	Reviews      bool            `json:"reviews,omitempty"` // through a pull request, with so many approvals
	Approvals    int             `json:"approvals,omitempty"`
	CodeOwners   bool            `json:"code_owners,omitempty"` // shown, but nobody is one here
	DismissStale bool            `json:"dismiss_stale,omitempty"`
	LastPush     bool            `json:"last_push,omitempty"`
	Threads      bool            `json:"threads,omitempty"`
	Linear       bool            `json:"linear,omitempty"`
	Queue        bool            `json:"queue,omitempty"`
	Methods      []string        `json:"methods,omitempty"` // nil for all
}

// demandedCheck is a check that must be green; nil or -1 is any app's.
type demandedCheck struct {
	Context string `json:"context"`
	App     *int64 `json:"app_id,omitempty"`
}

// demands is what the branch asks; false when nothing protects it.
func (r repo) demands(branch string) (demands, bool) {
	all, protected := demands{}, false
	if g := r.guard(branch); g != nil {
		all, protected = *g, true
	}
	for _, s := range r.rulesetsOf(branch) {
		for _, one := range s.Rules {
			all, protected = all.and(one), true
		}
	}
	return all, protected
}

// and adds what a rule asks.
func (d demands) and(one rule) demands {
	switch one.Type {
	case "merge_queue":
		d.Queue = true
	case "required_linear_history":
		d.Linear = true
	case "required_status_checks":
		var in statusRule
		_ = json.Unmarshal(one.Parameters, &in) // checked when it was made
		for _, c := range in.Checks {
			d.Checks = append(d.Checks, demandedCheck{c.Context, c.App})
		}
		d.Strict = d.Strict || in.Strict
	case "pull_request":
		var in pullRule
		_ = json.Unmarshal(one.Parameters, &in)
		d.Reviews, d.Approvals = true, max(d.Approvals, in.Approvals)
		d.DismissStale, d.CodeOwners = d.DismissStale || in.DismissStale, d.CodeOwners || in.CodeOwners
		d.LastPush, d.Threads = d.LastPush || in.LastPush, d.Threads || in.Threads
		if in.Methods != nil {
			d.Methods = slices.DeleteFunc(slices.Clone(*in.Methods), func(m string) bool { return d.Methods != nil && !slices.Contains(d.Methods, m) })
		}
	}
	return d
}

// statusRule and pullRule are the parameters of the two rules that have some.
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
