package github_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/github"
)

// FuzzPayload holds that nothing that a forge answers stops who reads it.
func FuzzPayload(f *testing.F) {
	f.Add(200, []byte(`[{"number":1,"title":"x","user":{"login":"ann"},"labels":[{"name":"a"}],"event":"labeled"}]`))
	f.Add(200, []byte(`{"permission":"write","role_name":"custom","user":null}`))
	f.Add(403, []byte(`{"message":"API rate limit exceeded"}`))
	f.Add(200, []byte(`[null,{"user":null,"labels":[null]}]`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 200 || status > 599 || status >= 300 && status < 400 {
			t.Skip() // no server sends the first, and a client follows the others
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write(body)
		}))
		defer server.Close()
		c, err := github.New(github.Config{BaseURL: server.URL, Token: "x"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, repo := t.Context(), "acme/widgets"
		_, _ = c.Issues(ctx, repo, time.Time{})
		_, _ = c.Issue(ctx, repo, 1)
		_, _ = c.Comments(ctx, repo, 1, time.Time{})
		_, _ = c.Permission(ctx, repo, "ann")
		_, _ = c.LabelSetter(ctx, repo, 1, "a")
		_, _ = c.PullRequest(ctx, repo, 1)
		_, _ = c.Reviews(ctx, repo, 1)
		_, _ = c.ReviewState(ctx, repo, 1)
	})
}
