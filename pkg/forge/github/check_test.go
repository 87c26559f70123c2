package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/localforge"
)

func TestStatusesAndRunsAreAllRead(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	var checks forge.Checks = w.client(t, "ada-token")
	head := w.push(t, "rob-token", "fix/it", "a.txt", "one\n")
	none, err := checks.Statuses(ctx, repo, head)
	if err != nil || len(none) != 0 {
		t.Errorf("before any: %+v, %v", none, err)
	}
	const count = 105
	for n := range count {
		w.report(t, head, fmt.Sprintf("ci/%03d", n), "pending")
		w.rest(t, "rob-token", "POST", "/check-runs", fmt.Sprintf(`{"name":"run %03d","head_sha":%q}`, n, head))
	}
	w.report(t, head, "ci/000", "success")
	w.rest(t, "ci-token", "POST", "/check-runs", fmt.Sprintf(`{"name":"run 000","head_sha":%q,"conclusion":"neutral","output":{"title":"Meh","summary":"1 of 2"}}`, head))
	statuses, err := checks.Statuses(ctx, repo, head)
	must(t, err)
	states := map[string]int{}
	for _, s := range statuses {
		states[s.State]++
	}
	if want := map[string]int{"pending": count - 1, "success": 1}; !reflect.DeepEqual(states, want) || statuses[1].Description != "as told" || statuses[1].At.IsZero() {
		t.Errorf("states = %v, the second %+v", states, statuses[1])
	}
	runs, err := checks.CheckRuns(ctx, repo, head)
	must(t, err)
	last := runs[len(runs)-1]
	if len(runs) != count+1 || runs[0].Status != "queued" || runs[0].App == 0 || last.App == runs[0].App || last.Conclusion != "neutral" || last.Title != "Meh" || last.Summary != "1 of 2" {
		t.Errorf("%d runs, first %+v, last %+v", len(runs), runs[0], last)
	}
	w.push(t, "ada-token", "main", "b.txt", "aside\n")
	if behind, err := checks.Behind(ctx, repo, "main", head); err != nil || behind != 1 {
		t.Errorf("behind = %d, %v", behind, err)
	}
}

const ruleset = `{"name":"main","enforcement":"active","conditions":{"ref_name":{"include":["~DEFAULT_BRANCH"]}},"rules":[
	{"type":"required_status_checks","parameters":{"required_status_checks":[{"context":"ci","integration_id":7},{"context":"lint"}],"strict_required_status_checks_policy":true}},
	{"type":"pull_request","parameters":{"required_approving_review_count":2,"dismiss_stale_reviews_on_push":true,"require_code_owner_review":true,
	 "require_last_push_approval":true,"required_review_thread_resolution":true,"allowed_merge_methods":["squash","rebase"]}},
	{"type":"required_linear_history"},{"type":"merge_queue"},{"type":"deletion"},{"type":"non_fast_forward"},
	{"type":"copilot_code_review","parameters":{"x":1}},{"type":"required_signatures"},{"type":"a_rule_of_tomorrow"}]}`

const classic = `{"required_status_checks":{"strict":false,"checks":[{"context":"ci","app_id":7},{"context":"e2e","app_id":-1}],"contexts":["ci","old"]},
	"required_pull_request_reviews":{"required_approving_review_count":1,"dismiss_stale_reviews":true},"required_conversation_resolution":true}`

func TestProtectionIsReadFromRulesetsAndClassic(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	ada, rob := w.client(t, "ada-token"), w.client(t, "rob-token")
	if got, err := rob.Protection(ctx, repo, "fix/it"); err != nil || !reflect.DeepEqual(got, forge.Protection{}) {
		t.Errorf("of nothing: %+v, %v", got, err)
	}
	w.rest(t, "ada-token", "PUT", "/branches/main/protection", classic)
	want := forge.Protection{
		Checks:    []forge.RequiredCheck{{Name: "ci", App: 7}, {Name: "e2e"}, {Name: "old"}},
		Approvals: 1, DismissStale: true, Threads: true,
	}
	if got, err := ada.Protection(ctx, repo, "main"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("classic = %+v, %v, want %+v", got, err, want)
	}
	got, err := rob.Protection(ctx, repo, "main")
	must(t, err)
	if !reflect.DeepEqual(got.Checks, want.Checks) || got.Approvals != 0 || !strings.Contains(got.Partial, "403 Resource not accessible") {
		t.Errorf("to who does not administer: %+v", got)
	}
	w.rest(t, "ada-token", "POST", "/rulesets", ruleset)
	want = forge.Protection{
		Checks: []forge.RequiredCheck{{Name: "ci", App: 7}, {Name: "lint"}, {Name: "e2e"}, {Name: "old"}},
		Strict: true, Approvals: 2, CodeOwners: true, DismissStale: true, LastPush: true, Threads: true, Linear: true, Queue: true,
		Methods: []string{"squash", "rebase"}, Others: []string{"copilot_code_review", "required_signatures", "a_rule_of_tomorrow"},
	}
	if got, err := ada.Protection(ctx, repo, "main"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("both = %+v, %v, want %+v", got, err, want)
	}
}

// TestProtectionThatCannotBeReadIsAnError: unprotected is something else.
func TestProtectionThatCannotBeReadIsAnError(t *testing.T) {
	for _, path := range []string{"/rules/branches/main", "/branches/main"} {
		w := newEnv(t, func(c *localforge.Config) {
			c.Fault = func(r *http.Request) *localforge.Fault {
				if strings.HasSuffix(r.URL.Path, path) {
					return &localforge.Fault{Status: http.StatusForbidden}
				}
				return nil
			}
		})
		if got, err := w.client(t, "ada-token").Protection(t.Context(), repo, "main"); !errors.Is(err, forge.ErrDenied) {
			t.Errorf("without %s: %+v, %v", path, got, err)
		}
	}
}
