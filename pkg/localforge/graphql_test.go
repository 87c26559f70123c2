package localforge_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"
)

// query sends GraphQL and returns the answer as it is.
func (e *env) query(t *testing.T, token, query string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query})
	must(t, err)
	resp, answer := e.ask(t, "POST", "/api/graphql", token, string(body))
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", resp.StatusCode, answer)
	}
	return answer
}

// resolve resolves every conversation on the pull request.
func (e *env) resolve(t *testing.T, number int) {
	t.Helper()
	var got struct {
		Data struct {
			Repository struct {
				PullRequest struct {
					ReviewThreads struct{ Nodes []struct{ ID string } }
				}
			}
		}
	}
	answer := e.query(t, robToken, fmt.Sprintf(`{repository(owner:"acme",name:"widgets"){pullRequest(number:%d){reviewThreads(first:100){nodes{id}}}}}`, number))
	must(t, json.Unmarshal([]byte(answer), &got))
	for _, thread := range got.Data.Repository.PullRequest.ReviewThreads.Nodes {
		answer := e.query(t, robToken, fmt.Sprintf(`mutation{resolveReviewThread(input:{threadId:%q}){thread{isResolved}}}`, thread.ID))
		if !strings.Contains(answer, `"isResolved":true`) {
			t.Errorf("resolving %s: %s", thread.ID, answer)
		}
	}
}

func TestGraphQL(t *testing.T) {
	w := newEnv(t)
	ada, rob, work := w.client(t, adaToken), w.client(t, robToken), w.clone(t, robToken)
	newIssue(t, ada, "x")
	StoreXPush(t, work, "topic", "a.txt", "one\n")
	pr, _, err := rob.PullRequests.Create(t.Context(), owner, name, &github.NewPullRequest{
		Title: github.String("y"), Body: github.String("Closes #1"), Head: github.String("topic"), Base: github.String("main"), Draft: github.Bool(true),
	})
	must(t, err)
	for range 3 {
		_, _, err := ada.PullRequests.CreateComment(t.Context(), owner, name, 2, &github.PullRequestComment{Body: github.String("?"), Path: github.String("a.txt"), Line: github.Int(1)})
		must(t, err)
	}
	inRepo := func(what string) string { return `{repository(owner:"acme",name:"widgets"){` + what + `}}` }
	threads := `pullRequest(number:2){reviewThreads(first:2%s){totalCount pageInfo{hasNextPage endCursor}nodes{path line isResolved}}}`
	thread := `{"isResolved":false,"line":1,"path":"a.txt"}`
	for _, tc := range []struct{ what, token, query, want string }{
		{"who asks", robToken, `{viewer{login databaseId}}`, `{"data":{"viewer":{"databaseId":2,"login":"rob[bot]"}}}`},
		{"under another name", adaToken, `query me{me:viewer{login}}`, `{"data":{"me":{"login":"ada"}}}`},
		{"an interface by its types", adaToken, inRepo(`pullRequest(number:2){author{__typename login ... on Bot{databaseId}... on User{id}}}`),
			`{"data":{"repository":{"pullRequest":{"author":{"__typename":"Bot","databaseId":2,"login":"rob"}}}}}`},
		{"a decision where none is demanded", adaToken, inRepo(`pullRequest(number:2){reviewDecision state isDraft}`),
			`{"data":{"repository":{"pullRequest":{"isDraft":true,"reviewDecision":null,"state":"OPEN"}}}}`},
		{"the first page", adaToken, inRepo(fmt.Sprintf(threads, "")), `{"data":{"repository":{"pullRequest":{"reviewThreads":{"nodes":[` + thread + `,` + thread + `],"pageInfo":{"endCursor":"Y3Vyc29yOjI=","hasNextPage":true},"totalCount":3}}}}}`},
		{"the next", adaToken, inRepo(fmt.Sprintf(threads, `,after:"Y3Vyc29yOjI="`)), `{"data":{"repository":{"pullRequest":{"reviewThreads":{"nodes":[` + thread + `],"pageInfo":{"endCursor":"Y3Vyc29yOjM=","hasNextPage":false},"totalCount":3}}}}}`},
		{"what mentions an issue", adaToken, inRepo(`issue(number:1){timelineItems(first:9,itemTypes:[CROSS_REFERENCED_EVENT]){nodes{... on CrossReferencedEvent{willCloseTarget source{... on PullRequest{number}}}}}}`),
			`{"data":{"repository":{"issue":{"timelineItems":{"nodes":[{"source":{"number":2},"willCloseTarget":true}]}}}}}`},
		{"a field that is none", adaToken, `{viewer{shoeSize}}`, `Cannot query field \"shoeSize\" on type \"User\"`},
		{"an argument that is missing", adaToken, `{repository(owner:"acme"){id}}`, `argument \"name\" of type \"String!\" is required`},
		{"what is not GraphQL", adaToken, `{viewer`, `"errors"`},
		{"a connection without a page", adaToken, inRepo(`pullRequest(number:2){reviewThreads{totalCount}}`), `"type":"MISSING_PAGINATION_BOUNDARIES"`},
		{"an unknown repository", adaToken, `{repository(owner:"acme",name:"gadgets"){id}}`, `"type":"NOT_FOUND"`},
		{"one that may not be seen", "eve-token", inRepo("id"), `"type":"NOT_FOUND"`},
		{"a number that is none", adaToken, inRepo(`pullRequest(number:1){id}`), `Could not resolve to a PullRequest with the number of 1.`},
		{"readiness by who may only read", maxToken, fmt.Sprintf(`mutation{markPullRequestReadyForReview(input:{pullRequestId:%q}){pullRequest{isDraft}}}`, pr.GetNodeID()), `"type":"FORBIDDEN"`},
		{"readiness of what is none", robToken, `mutation{markPullRequestReadyForReview(input:{pullRequestId:"x"}){pullRequest{isDraft}}}`, `"type":"NOT_FOUND"`},
		{"readiness", robToken, fmt.Sprintf(`mutation{markPullRequestReadyForReview(input:{pullRequestId:%q}){pullRequest{isDraft}}}`, pr.GetNodeID()),
			`{"data":{"markPullRequestReadyForReview":{"pullRequest":{"isDraft":false}}}}`},
	} {
		t.Run(tc.what, func(t *testing.T) {
			if got := w.query(t, tc.token, tc.query); !strings.Contains(got, tc.want) {
				t.Errorf("answer = %s, want %s", got, tc.want)
			}
		})
	}
	if resp, body := w.ask(t, "POST", "/graphql", "", `{"query":"{viewer{login}}"}`); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %d %s", resp.StatusCode, body)
	}
}
