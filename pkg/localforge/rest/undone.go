package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// undone are the keys of a request that GitHub knows and the local forge does not do. A
// value that changes nothing is accepted: clients send back fields that they have read.
type undone struct {
	resource string
	keys     []string
	shown    object // the resource as it is; a key that it lacks has no value
}

// Keys that GitHub knows and the local forge does not do.
var (
	undoneOfRepo = []string{
		"description", "homepage", "private", "visibility", "security_and_analysis", "has_issues", "has_projects", "has_wiki",
		"has_pull_requests", "pull_request_creation_policy", "has_downloads", "has_discussions", "is_template", "allow_auto_merge",
		"delete_branch_on_merge", "allow_update_branch", "use_squash_pr_title_as_default", "squash_merge_commit_title",
		"squash_merge_commit_message", "merge_commit_title", "merge_commit_message", "allow_forking", "web_commit_signoff_required",
	}
	undoneOfIssue = []string{"assignee", "assignees", "milestone", "type", "issue_field_values", "agent_assignment"}
	// GitHub changes the first two of a pull request as those of its issue.
	undoneOfPull = []string{"assignees", "milestone", "maintainer_can_modify"}
	// undoneOfNewPull: GitHub makes a pull request of an issue that the key names.
	undoneOfNewPull = []string{"issue", "assignees", "milestone"}
)

// decodeDone is decode. It refuses a request with a key that the local forge does not do: an
// answer of 200 would say that it did.
func (c *call) decodeDone(into any, u undone) error {
	body, err := c.read()
	if err == nil {
		err = parse(body, into)
	}
	if err != nil {
		return err
	}
	var sent map[string]json.RawMessage
	if err := parse(body, &sent); err != nil {
		return err
	}
	for _, key := range u.keys {
		if value, ok := sent[key]; ok && !same(value, u.shown[key]) {
			return &failure{status: http.StatusUnprocessableEntity, message: "Validation Failed", errors: []any{object{
				"resource": u.resource, "field": key, "code": "custom",
				"message": fmt.Sprintf("The local forge does not do %s. Leave it out of the request.", key),
			}}}
		}
	}
	return nil
}

// same reports whether a value that was sent is the one that is shown. All empty values are
// the same.
func same(sent json.RawMessage, shown any) bool {
	var compact bytes.Buffer
	if err := json.Compact(&compact, sent); err != nil {
		return false
	}
	is := string(bytes.TrimSpace(encode(shown)))
	empty := []string{"null", "false", `""`, "[]", "{}"}
	return compact.String() == is || slices.Contains(empty, compact.String()) && slices.Contains(empty, is)
}
