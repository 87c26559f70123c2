package github_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// discussed is a pull request by rob with a conversation that ada began.
func (e *env) discussed(t *testing.T, rob *github.Client) (pr forge.PullRequest, first int64) {
	t.Helper()
	g := git.New(t.TempDir()).WithToken(e.url, "rob-token").WithIdentity("Rob", "rob@example.test")
	gittest.Run(t, g, "clone", "-q", e.url+"/"+repo+".git", ".")
	must(t, os.WriteFile(filepath.Join(g.Dir(), "sum.go"), []byte("package sum\n"), 0o600))
	gittest.Run(t, g, "checkout", "-q", "-b", "topic")
	gittest.Run(t, g, "add", ".")
	gittest.Run(t, g, "commit", "-q", "-m", "Sum")
	gittest.Run(t, g, "push", "-q", "origin", "topic")
	pr, err := rob.CreatePullRequest(t.Context(), repo, forge.NewPullRequest{Title: "Sum", Head: "topic", Base: "main"})
	must(t, err)
	body := fmt.Sprintf(`{"body": "Why sum?", "commit_id": %q, "path": "sum.go", "line": 1, "side": "RIGHT"}`, pr.HeadSHA)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("%s/api/v3/repos/%s/pulls/%d/comments", e.url, repo, pr.Number), strings.NewReader(body))
	must(t, err)
	request.Header.Set("Authorization", "Bearer ada-token")
	answer, err := http.DefaultClient.Do(request)
	must(t, err)
	must(t, answer.Body.Close())
	said, err := rob.ReviewComments(t.Context(), repo, pr.Number)
	must(t, err)
	if answer.StatusCode != http.StatusCreated || len(said) != 1 {
		t.Fatalf("%s; comments are %+v", answer.Status, said)
	}
	return pr, said[0].ID
}

func TestAConversationIsAnsweredOnceAndEnded(t *testing.T) {
	w := newEnv(t)
	rob, ctx := w.client(t, "rob-token"), t.Context()
	pr, first := w.discussed(t, rob)
	for range 3 {
		must(t, forge.Answer(ctx, rob, repo, pr.Number, first, "<!-- 1 -->", "Because."))
	}
	said, err := rob.ReviewComments(ctx, repo, pr.Number)
	must(t, err)
	if len(said) != 2 || said[1].ReplyTo != first || said[1].Body != "Because.\n\n<!-- 1 -->" || said[1].Author.Login != "rob[bot]" {
		t.Fatalf("comments are %+v", said)
	}
	must(t, forge.Answer(ctx, rob, repo, pr.Number, said[1].ID, "<!-- 2 -->", "And so on."))
	if said, err = rob.ReviewComments(ctx, repo, pr.Number); err != nil || len(said) != 3 || said[2].ReplyTo != first {
		t.Errorf("answered further down it is %+v, %v", said, err)
	}
	must(t, forge.Answer(ctx, rob, repo, pr.Number, 999_999, "<!-- 3 -->", "To nobody."))
	state, err := rob.ReviewState(ctx, repo, pr.Number)
	if err != nil || len(state.Threads) != 1 || state.Threads[0].Resolved {
		t.Fatalf("threads are %+v, %v", state.Threads, err)
	}
	for range 2 {
		must(t, rob.Resolve(ctx, repo, state.Threads[0].ID))
	}
	if state, err = rob.ReviewState(ctx, repo, pr.Number); err != nil || !state.Threads[0].Resolved {
		t.Errorf("resolved it is %+v, %v", state.Threads, err)
	}
}

func TestACommentIsPostedOnce(t *testing.T) {
	w := newEnv(t)
	rob, ada, ctx := w.client(t, "rob-token"), w.client(t, "ada-token"), t.Context()
	issue, err := rob.CreateIssue(ctx, repo, forge.NewIssue{Title: "x"})
	must(t, err)
	_, err = ada.Comment(ctx, repo, issue.Number, "I copied <!-- 1 -->")
	must(t, err)
	made, err := forge.Post(ctx, rob, repo, issue.Number, "<!-- 1 -->", "Hello.")
	must(t, err)
	again, err := forge.Post(ctx, rob, repo, issue.Number, "<!-- 1 -->", "Hello.")
	if err != nil || again.ID != made.ID || made.Author.Login != "rob[bot]" {
		t.Errorf("made %+v, then %+v, %v", made, again, err)
	}
}
