package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

// Protection reads what the branch demands by rulesets and by classic protection.
func (c *Client) Protection(ctx context.Context, repo, branch string) (forge.Protection, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.Protection{}, err
	}
	what := fmt.Sprintf("read the protection of %s in %s", branch, repo)
	p, err := c.rules(ctx, owner, name, branch)
	if err != nil {
		return forge.Protection{}, explain(ctx, what, err)
	}
	if err := c.classic(ctx, &p, owner, name, branch); err != nil {
		return forge.Protection{}, explain(ctx, what, err)
	}
	return p, nil
}

// classic adds the branch's classic protection. Only administrators may read all of it;
// other users see its checks.
func (c *Client) classic(ctx context.Context, p *forge.Protection, owner, name, branch string) error {
	var shown struct {
		Protected  bool
		Protection struct {
			Enabled *bool
			Checks  *struct {
				Contexts []string
				Checks   []*github.RequiredStatusCheck
			} `json:"required_status_checks"`
		}
	}
	path := fmt.Sprintf("repos/%s/%s/branches/%s", owner, name, url.PathEscape(branch))
	if err := c.get(ctx, path, &shown); err != nil {
		return err
	}
	if !shown.Protected {
		return nil
	}
	all, _, err := c.api.Repositories.GetBranchProtection(ctx, owner, name, branch)
	switch {
	case errors.Is(err, github.ErrBranchNotProtected):
		return nil // by rulesets only
	case err == nil:
		addClassic(p, all)
		return nil
	case !refusedWith(err, http.StatusForbidden, http.StatusNotFound):
		return err
	case shown.Protection.Enabled != nil && !*shown.Protection.Enabled:
		return nil
	case shown.Protection.Checks == nil:
		return err
	}
	addChecks(p, shown.Protection.Checks.Contexts, shown.Protection.Checks.Checks)
	p.Partial = classify(ctx, err).Error()
	return nil
}

func addClassic(p *forge.Protection, all *github.Protection) {
	if checks := all.RequiredStatusChecks; checks != nil {
		p.Strict = p.Strict || checks.Strict
		var contexts []string
		var list []*github.RequiredStatusCheck
		if checks.Contexts != nil {
			contexts = *checks.Contexts
		}
		if checks.Checks != nil {
			list = *checks.Checks
		}
		addChecks(p, contexts, list)
	}
	if reviews := all.RequiredPullRequestReviews; reviews != nil {
		p.Approvals = max(p.Approvals, reviews.RequiredApprovingReviewCount)
		p.DismissStale = p.DismissStale || reviews.DismissStaleReviews
		p.CodeOwners = p.CodeOwners || reviews.RequireCodeOwnerReviews
		p.LastPush = p.LastPush || reviews.RequireLastPushApproval
	}
	p.Threads = p.Threads || all.RequiredConversationResolution != nil && all.RequiredConversationResolution.Enabled
	p.Linear = p.Linear || all.RequireLinearHistory != nil && all.RequireLinearHistory.Enabled
	if all.RequiredSignatures != nil && all.RequiredSignatures.GetEnabled() {
		p.Others = append(p.Others, "required_signatures")
	}
	if all.LockBranch != nil && all.LockBranch.GetEnabled() {
		p.Others = append(p.Others, "lock_branch")
	}
}

// addChecks adds required checks. The older list of names repeats the newer
// one, without the apps.
func addChecks(p *forge.Protection, contexts []string, checks []*github.RequiredStatusCheck) {
	for _, check := range checks {
		addCheck(p, forge.RequiredCheck{Name: check.Context, App: max(0, check.GetAppID())}) // -1 is anybody
		contexts = slices.DeleteFunc(slices.Clone(contexts), func(c string) bool { return c == check.Context })
	}
	for _, context := range contexts {
		addCheck(p, forge.RequiredCheck{Name: context})
	}
}

func addCheck(p *forge.Protection, check forge.RequiredCheck) {
	if !slices.Contains(p.Checks, check) {
		p.Checks = append(p.Checks, check)
	}
}

// refusedWith reports whether GitHub answered with one of the statuses.
func refusedWith(err error, statuses ...int) bool {
	var refused *github.ErrorResponse
	return errors.As(err, &refused) && refused.Response != nil && slices.Contains(statuses, refused.Response.StatusCode)
}
