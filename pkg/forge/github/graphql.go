package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

// graphqlError is a refusal in an answer with status 200.
type graphqlError struct {
	Type       string
	Message    string
	Extensions struct{ Code string }
}

// graphql sends a query to GitHub's GraphQL. It fails if the answer has any error, even with
// data.
func (c *Client) graphql(ctx context.Context, what, query string, variables map[string]any, into any) error {
	path := "graphql"
	if strings.HasSuffix(c.api.BaseURL.Path, "/api/v3/") {
		path = "../graphql" // an Enterprise Server has it next to REST
	}
	r, err := c.api.NewRequest(http.MethodPost, path, map[string]any{"query": query, "variables": variables})
	if err != nil {
		return fmt.Errorf("github: %s: %w", what, err)
	}
	var answer struct {
		Data   json.RawMessage
		Errors []graphqlError
	}
	if strings.HasPrefix(strings.TrimSpace(query), "mutation") {
		ctx = context.WithValue(ctx, mutationKey{}, true)
	}
	resp, err := c.api.Do(ctx, r, &answer)
	if err != nil {
		return explain(ctx, what, err)
	}
	if len(answer.Errors) > 0 {
		return fmt.Errorf("github: %s: %w", what, classifyGraphQL(answer.Errors, resp))
	}
	if err := json.Unmarshal(answer.Data, into); err != nil {
		return fmt.Errorf("github: %s: %w: %w", what, forge.ErrUnavailable, err)
	}
	return nil
}

func classifyGraphQL(all []graphqlError, resp *github.Response) error {
	first, said := all[0], []string{}
	for _, e := range all {
		said = append(said, strings.TrimSpace(e.Type+" "+e.Message))
	}
	words := strings.Join(said, "; ")
	sentinel := forge.ErrUnavailable
	switch {
	case first.Type == "RATE_LIMITED", namesLimit(first.Message):
		now := time.Now()
		until, told := resetOf(resp.Header, now)
		if !told || resp.Rate.Remaining > 0 {
			until = now.Add(untold)
		}
		return &forge.RateLimit{Until: until, Message: words}
	case first.Type == "NOT_FOUND":
		sentinel = forge.ErrNotFound
	case first.Type == "FORBIDDEN", first.Type == "INSUFFICIENT_SCOPES":
		sentinel = forge.ErrDenied
	case first.Type == "UNPROCESSABLE", first.Extensions.Code != "":
		sentinel = forge.ErrInvalid
	}
	return fmt.Errorf("%w: %s", sentinel, words)
}

// cursor is the end of a page of a connection.
type cursor struct {
	HasNextPage bool
	EndCursor   string
}

// next returns the cursor of the next page, nil for the first.
func (p cursor) next() any {
	if p.EndCursor == "" {
		return nil
	}
	return p.EndCursor
}

// actor is an account in GraphQL, where the login of a bot lacks its ending in REST.
type actor struct {
	Kind       string `json:"__typename"`
	Login      string
	DatabaseID int64
}

func (a *actor) user() forge.User {
	if a == nil {
		return forge.User{}
	}
	u := forge.User{ID: a.DatabaseID, Login: a.Login, Bot: a.Kind == "Bot" || strings.HasSuffix(a.Login, "[bot]")}
	if u.Bot && !strings.HasSuffix(u.Login, "[bot]") {
		u.Login += "[bot]"
	}
	return u
}
