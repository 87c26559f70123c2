package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/forge"
)

// rule is a rule of a ruleset. go-github fails on a list with a type that it does not
// know.
type rule struct {
	Type       string
	Parameters json.RawMessage
}

// harmless are the rules that a merge cannot break.
var harmless = []string{"creation", "deletion", "non_fast_forward"}

// rules reads the demands of the rulesets of the branch.
func (c *Client) rules(ctx context.Context, owner, name, branch string) (forge.Protection, error) {
	var p forge.Protection
	rows, err := readAll[rule](ctx, c, fmt.Sprintf("repos/%s/%s/rules/branches/%s", owner, name, url.PathEscape(branch)))
	if err != nil {
		return p, err
	}
	for _, row := range rows {
		if err := addRule(&p, row); err != nil {
			return p, fmt.Errorf("rule %s: %w", row.Type, err)
		}
	}
	return p, nil
}

func addRule(p *forge.Protection, row rule) error {
	var in struct {
		Checks []struct {
			Context string
			App     *int64 `json:"integration_id"`
		} `json:"required_status_checks"`
		Strict       bool      `json:"strict_required_status_checks_policy"`
		Approvals    int       `json:"required_approving_review_count"`
		DismissStale bool      `json:"dismiss_stale_reviews_on_push"`
		CodeOwners   bool      `json:"require_code_owner_review"`
		LastPush     bool      `json:"require_last_push_approval"`
		Threads      bool      `json:"required_review_thread_resolution"`
		Methods      *[]string `json:"allowed_merge_methods"`
	}
	switch {
	case slices.Contains(harmless, row.Type):
		return nil
	case row.Type == "merge_queue":
		p.Queue = true
		return nil
	case row.Type == "required_linear_history":
		p.Linear = true
		return nil
	case row.Type != "required_status_checks" && row.Type != "pull_request":
		if !slices.Contains(p.Others, row.Type) {
			p.Others = append(p.Others, row.Type)
		}
		return nil
	}
	if len(row.Parameters) > 0 {
		if err := json.Unmarshal(row.Parameters, &in); err != nil {
			return err
		}
	}
	for _, check := range in.Checks {
		required := forge.RequiredCheck{Name: check.Context}
		if check.App != nil {
			required.App = max(0, *check.App)
		}
		addCheck(p, required)
	}
	p.Strict, p.DismissStale, p.CodeOwners = p.Strict || in.Strict, p.DismissStale || in.DismissStale, p.CodeOwners || in.CodeOwners
	p.LastPush, p.Threads = p.LastPush || in.LastPush, p.Threads || in.Threads
	p.Approvals = max(p.Approvals, in.Approvals)
	if in.Methods != nil {
		p.Methods = common(p.Methods, *in.Methods)
	}
	return nil
}

// common returns the intersection of the lists. A nil list stands for all.
func common(a, b []string) []string {
	both := []string{}
	for _, m := range b {
		if a == nil || slices.Contains(a, m) {
			both = append(both, m)
		}
	}
	return both
}

// get reads a path that go-github has no call for.
func (c *Client) get(ctx context.Context, path string, into any) error {
	r, err := c.api.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	_, err = c.api.Do(ctx, r, into)
	return err
}

// readAll reads all pages of a path that go-github has no call for.
func readAll[T any](ctx context.Context, c *Client, path string) ([]T, error) {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	var all []T
	for page := 1; page != 0; {
		r, err := c.api.NewRequest(http.MethodGet, fmt.Sprintf("%s%sper_page=%d&page=%d", path, separator, perPage, page), nil)
		if err != nil {
			return nil, err
		}
		var rows []T
		resp, err := c.api.Do(ctx, r, &rows)
		if err != nil {
			return nil, err
		}
		all, page = append(all, rows...), resp.NextPage
	}
	return all, nil
}
