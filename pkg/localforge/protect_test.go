package localforge_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
)

// TestProtectedBranchTakesWhatItDemandsOnly meets one demand after the other.
func TestProtectedBranchTakesWhatItDemandsOnly(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	ada, rob, work := w.client(t, adaToken), w.client(t, robToken), w.clone(t, robToken)
	pr := w.propose(t, rob, work, "topic", "a.txt", "one\n")
	_, _, err := ada.Repositories.UpdateBranchProtection(ctx, owner, name, "main", &github.ProtectionRequest{
		RequiredStatusChecks:           &github.RequiredStatusChecks{Strict: true, Contexts: &[]string{"build"}},
		RequiredPullRequestReviews:     &github.PullRequestReviewsEnforcementRequest{RequiredApprovingReviewCount: 1, DismissStaleReviews: true},
		RequiredConversationResolution: github.Bool(true),
	})
	must(t, err)
	refused := func(want, state string) {
		t.Helper()
		now, _, err := rob.PullRequests.Get(ctx, owner, name, 1)
		must(t, err)
		if now.GetMergeableState() != state {
			t.Errorf("state = %s, want %s", now.GetMergeableState(), state)
		}
		_, _, err = rob.PullRequests.Merge(ctx, owner, name, 1, "", nil)
		if status, message := refusal(t, err); status != http.StatusMethodNotAllowed || !strings.Contains(message, want) {
			t.Errorf("err = %v, want %q", err, want)
		}
	}
	report := func(head, state string) {
		t.Helper()
		_, _, err := rob.Repositories.CreateStatus(ctx, owner, name, head, &github.RepoStatus{State: &state, Context: github.String("build")})
		must(t, err)
	}
	head := pr.GetHead().GetSHA()
	refused(`Required status check "build" is expected.`, "blocked")
	report(head, "pending")
	refused(`Required status check "build" is pending.`, "blocked")
	report(head, "failure")
	refused(`Required status check "build" is failing.`, "blocked")
	report(head, "success")
	refused("At least 1 approving review is required", "blocked")
	_, _, err = ada.PullRequests.CreateReview(ctx, owner, name, 1, &github.PullRequestReviewRequest{
		Event: github.String("APPROVE"), Comments: []*github.DraftReviewComment{{Path: github.String("a.txt"), Line: github.Int(1), Body: github.String("One?")}},
	})
	must(t, err)
	refused("A conversation must be resolved", "blocked")
	w.resolve(t, 1)

	head = StoreXPush(t, work, "topic", "b.txt", "more\n")
	reviews, _, err := rob.PullRequests.ListReviews(ctx, owner, name, 1, nil)
	must(t, err)
	if reviews[0].GetState() != "DISMISSED" {
		t.Errorf("after a push the approval is %s", reviews[0].GetState())
	}
	report(head, "success")
	_, _, err = ada.PullRequests.CreateReview(ctx, owner, name, 1, &github.PullRequestReviewRequest{Event: github.String("APPROVE")})
	must(t, err)
	gittest.Run(t, work, "checkout", "-q", "main")
	StoreXPush(t, work, "main", "c.txt", "aside\n")
	refused("out of date", "behind")
	gittest.Run(t, work, "checkout", "-q", "topic")
	gittest.Run(t, work, "merge", "-q", "--no-edit", "main")
	gittest.Run(t, work, "push", "-q", "origin", "topic")
	head = gittest.Run(t, work, "rev-parse", "HEAD")
	report(head, "success")
	_, _, err = ada.PullRequests.CreateReview(ctx, owner, name, 1, &github.PullRequestReviewRequest{Event: github.String("APPROVE")})
	must(t, err)
	_, _, err = rob.PullRequests.Merge(ctx, owner, name, 1, "", &github.PullRequestOptions{SHA: head})
	must(t, err)
}

func TestProtectionIsShownToWhoAdministers(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	ada, rob := w.client(t, adaToken), w.client(t, robToken)
	_, _, err := ada.Repositories.GetBranchProtection(ctx, owner, name, "main")
	if !errors.Is(err, github.ErrBranchNotProtected) {
		t.Errorf("before: %v", err)
	}
	app := int64(7)
	_, _, err = ada.Repositories.UpdateBranchProtection(ctx, owner, name, "main", &github.ProtectionRequest{
		RequiredStatusChecks: &github.RequiredStatusChecks{Checks: &[]*github.RequiredStatusCheck{{Context: "build", AppID: &app}}}, RequireLinearHistory: github.Bool(true),
	})
	must(t, err)
	got, _, err := ada.Repositories.GetBranchProtection(ctx, owner, name, "main")
	must(t, err)
	if checks := *got.RequiredStatusChecks.Checks; len(checks) != 1 || checks[0].GetAppID() != 7 || !got.RequireLinearHistory.Enabled || got.RequiredPullRequestReviews != nil {
		t.Errorf("protection = %+v", got)
	}
	_, _, err = rob.Repositories.GetBranchProtection(ctx, owner, name, "main")
	if status, _ := refusal(t, err); status != http.StatusForbidden {
		t.Errorf("who may only write: %v", err)
	}
	branch, _, err := rob.Repositories.GetBranch(ctx, owner, name, "main", 1)
	must(t, err)
	if _, body := w.ask(t, "GET", "/repos/acme/widgets/branches/main", maxToken, ""); !branch.GetProtected() || !strings.Contains(body, `"contexts":["build"]`) {
		t.Errorf("but everybody sees the checks: %s", body)
	}
	_, err = ada.Repositories.RemoveBranchProtection(ctx, owner, name, "main")
	must(t, err)
	if branch, _, err = rob.Repositories.GetBranch(ctx, owner, name, "main", 1); err != nil || branch.GetProtected() {
		t.Errorf("after: %+v, %v", branch, err)
	}
}

func TestRulesetsHoldWhereTheySay(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	ada, rob, work := w.client(t, adaToken), w.client(t, robToken), w.clone(t, robToken)
	w.propose(t, rob, work, "topic", "a.txt", "one\n")
	made, body := w.ask(t, "POST", "/repos/acme/widgets/rulesets", adaToken, `{"name":"main","target":"branch","enforcement":"active",
		"conditions":{"ref_name":{"include":["~DEFAULT_BRANCH"],"exclude":[]}},
		"rules":[{"type":"deletion"},{"type":"pull_request","parameters":{"required_approving_review_count":0,"dismiss_stale_reviews_on_push":false,
		"require_code_owner_review":false,"require_last_push_approval":false,"required_review_thread_resolution":false,"allowed_merge_methods":["rebase"]}}]}`)
	var ruleset struct{ ID int64 }
	if err := json.Unmarshal([]byte(body), &ruleset); err != nil || made.StatusCode != http.StatusCreated {
		t.Fatalf("%d %s: %v", made.StatusCode, body, err)
	}
	rules, _, err := rob.Repositories.GetRulesForBranch(ctx, owner, name, "main")
	must(t, err)
	elsewhere, _, err := rob.Repositories.GetRulesForBranch(ctx, owner, name, "topic")
	must(t, err)
	if len(rules) != 2 || rules[0].Type != "deletion" || len(elsewhere) != 0 {
		t.Errorf("rules = %v, elsewhere %v", rules, elsewhere)
	}
	_, _, err = rob.PullRequests.Merge(ctx, owner, name, 1, "", &github.PullRequestOptions{MergeMethod: "squash"})
	if status, message := refusal(t, err); status != http.StatusMethodNotAllowed || !strings.Contains(message, "Squash merges are not allowed") {
		t.Errorf("err = %v", err)
	}
	_, err = ada.Repositories.DeleteRuleset(ctx, owner, name, ruleset.ID)
	must(t, err)
	_, _, err = ada.Repositories.Edit(ctx, owner, name, &github.Repository{AllowMergeCommit: github.Bool(false)})
	must(t, err)
	_, _, err = rob.PullRequests.Merge(ctx, owner, name, 1, "", &github.PullRequestOptions{MergeMethod: "merge"})
	if status, message := refusal(t, err); status != http.StatusMethodNotAllowed || !strings.Contains(message, "Merge commits are not allowed") {
		t.Errorf("err = %v", err)
	}
	_, _, err = rob.PullRequests.Merge(ctx, owner, name, 1, "", &github.PullRequestOptions{MergeMethod: "squash"})
	must(t, err)
}

func TestMergeabilityIsComputedForAWhile(t *testing.T) {
	w := newEnv(t, func(c *localforge.Config) { c.Computing = 2 })
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	pr := w.propose(t, rob, work, "topic", "a.txt", "one\n")
	for round := range 2 {
		if round == 1 {
			StoreXPush(t, work, "topic", "b.txt", "two\n")
			pr = w.pull(t, rob, 1)
		}
		if pr.Mergeable != nil || pr.GetMergeableState() != "unknown" {
			t.Errorf("at first: %v %s", pr.Mergeable, pr.GetMergeableState())
		}
		if pr = w.pull(t, rob, 1); pr.Mergeable != nil {
			t.Errorf("at second: %v", *pr.Mergeable)
		}
		if pr = w.pull(t, rob, 1); pr.Mergeable == nil || !*pr.Mergeable || pr.GetMergeableState() != "clean" {
			t.Errorf("at last: %v %s", pr.Mergeable, pr.GetMergeableState())
		}
	}
}

func (e *env) pull(t *testing.T, c *github.Client, number int) *github.PullRequest {
	t.Helper()
	pr, _, err := c.PullRequests.Get(t.Context(), owner, name, number)
	must(t, err)
	return pr
}
