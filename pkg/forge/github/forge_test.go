package github_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
)

// TestForge holds the client to the forge's interfaces.
func TestForge(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	var reader forge.Reader = w.client(t, "ada-token")
	var writer forge.Writer = w.client(t, "rob-token")

	t.Run("Self is who the token belongs to", func(t *testing.T) {
		got, err := reader.Self(ctx)
		if err != nil || got != "ada" {
			t.Errorf("self = %q, %v", got, err)
		}
	})
	t.Run("Repository tells the default branch and where to clone from", func(t *testing.T) {
		got, err := reader.Repository(ctx, "Acme/Widgets")
		if want := (forge.Repository{Name: repo, DefaultBranch: "main", CloneURL: w.url + "/acme/widgets.git"}); err != nil || got != want {
			t.Errorf("repository = %+v, %v", got, err)
		}
	})
	t.Run("an issue is read as it was made", func(t *testing.T) {
		made, err := writer.CreateIssue(ctx, repo, forge.NewIssue{Title: "It breaks", Body: "Sometimes.", Labels: []string{"bug"}})
		must(t, err)
		got, err := reader.Issue(ctx, repo, made.Number)
		must(t, err)
		if got.Title != "It breaks" || got.Body != "Sometimes." || got.State != "open" || got.Repo != repo || got.NodeID == "" ||
			fmt.Sprint(got.Labels) != "[bug]" || got.URL != w.url+"/acme/widgets/issues/1" || got.CreatedAt.IsZero() {
			t.Errorf("issue = %+v", got)
		}
		if !got.Author.Bot || got.Author.Login != "rob[bot]" || got.Author.ID == 0 {
			t.Errorf("author = %+v", got.Author)
		}
	})
	t.Run("a comment is written, edited and listed since a time", func(t *testing.T) {
		first, err := writer.Comment(ctx, repo, 1, "One?")
		must(t, err)
		second, err := writer.Comment(ctx, repo, 1, "Two?")
		must(t, err)
		edited, err := writer.EditComment(ctx, repo, first.ID, "One!")
		must(t, err)
		if edited.Body != "One!" || !edited.UpdatedAt.After(first.CreatedAt) || !strings.HasPrefix(edited.URL, w.url) {
			t.Errorf("edited = %+v", edited)
		}
		all, err := reader.Comments(ctx, repo, 1, time.Time{})
		must(t, err)
		if len(all) != 2 || all[0].Body != "One!" || all[1].ID != second.ID || !all[0].Author.Bot {
			t.Errorf("comments = %+v", all)
		}
		since, err := reader.Comments(ctx, repo, 1, edited.UpdatedAt)
		must(t, err)
		if len(since) != 1 || since[0].ID != first.ID {
			t.Errorf("since the edit: %+v", since)
		}
	})
	t.Run("labels are added and removed whatever is in their name", func(t *testing.T) {
		odd := "needs input: 100% #1/2?"
		must(t, writer.AddLabels(ctx, repo, 1, []string{odd, "signalbox:blocked"}))
		must(t, writer.RemoveLabel(ctx, repo, 1, odd))
		got, err := reader.Issue(ctx, repo, 1)
		must(t, err)
		if fmt.Sprint(got.Labels) != "[bug signalbox:blocked]" {
			t.Errorf("labels = %v", got.Labels)
		}
		if err := writer.RemoveLabel(ctx, repo, 1, odd); !errors.Is(err, forge.ErrNotFound) || !strings.Contains(err.Error(), "Label does not exist") {
			t.Errorf("removing it again: %v", err)
		}
	})
	t.Run("a pull request is found by its branch", func(t *testing.T) {
		if _, err := reader.PullRequestByHead(ctx, repo, "fix/it"); !errors.Is(err, forge.ErrNotFound) {
			t.Errorf("before there is one: %v", err)
		}
		made, err := writer.CreatePullRequest(ctx, repo, forge.NewPullRequest{Title: "Fix it", Body: "Closes #1", Head: "fix/it", Base: "main", Draft: true})
		must(t, err)
		got, err := reader.PullRequestByHead(ctx, repo, "fix/it")
		must(t, err)
		if got.Number != made.Number || !got.Draft || got.Merged || got.Mergeable == nil || !*got.Mergeable || got.MergeableState != "draft" ||
			got.HeadRef != "fix/it" || got.BaseRef != "main" || len(got.HeadSHA) != 40 || len(got.BaseSHA) != 40 || got.URL != w.url+"/acme/widgets/pull/2" {
			t.Errorf("pull request = %+v", got)
		}
		if _, err := writer.CreatePullRequest(ctx, repo, forge.NewPullRequest{Title: "x", Head: "fix/it", Base: "main"}); !errors.Is(err, forge.ErrInvalid) ||
			!strings.Contains(err.Error(), "A pull request already exists for acme:fix/it.") {
			t.Errorf("a second one: %v", err)
		}
	})
	t.Run("a pull request is not an issue", func(t *testing.T) {
		issues, err := reader.Issues(ctx, repo, time.Time{})
		must(t, err)
		if len(issues) != 1 || issues[0].Number != 1 {
			t.Errorf("issues = %+v", issues)
		}
		if _, err := reader.Issue(ctx, repo, 2); !errors.Is(err, forge.ErrNotFound) {
			t.Errorf("reading it as one: %v", err)
		}
		if _, err := writer.Comment(ctx, repo, 2, "On a pull request."); err != nil {
			t.Errorf("but it can be commented on: %v", err)
		}
	})
	t.Run("Permission is the role", func(t *testing.T) {
		for user, want := range map[string]string{"ada": "admin", "rob[bot]": "write", "tri": "triage", "max": "read", "eve": "none"} {
			if got, err := reader.Permission(ctx, repo, user); err != nil || got != want {
				t.Errorf("%s: %q, %v, want %s", user, got, err, want)
			}
		}
		for _, user := range []string{"nobody", "../../../../user", "a/b"} {
			if got, err := reader.Permission(ctx, repo, user); !errors.Is(err, forge.ErrNotFound) {
				t.Errorf("%s: %q, %v", user, got, err)
			}
		}
	})
	t.Run("what is wrong is told apart", func(t *testing.T) {
		for _, tc := range []struct {
			what string
			err  error
			want error
			text string
		}{
			{"an unknown issue", second(reader.Issue(ctx, repo, 99)), forge.ErrNotFound, "404 Not Found"},
			{"an unknown repository", second(reader.Repository(ctx, "acme/gadgets")), forge.ErrNotFound, "read repository acme/gadgets"},
			{"a repository that is none", second(reader.Repository(ctx, "acme/../x")), forge.ErrInvalid, "want owner/name"},
			{"an empty title", second(writer.CreateIssue(ctx, repo, forge.NewIssue{})), forge.ErrInvalid, "missing_field title of Issue"},
			{"a wrong token", second(w.client(t, "wrong").Self(ctx)), forge.ErrDenied, "401 Bad credentials"},
			{"too little permission", w.client(t, "max-token").AddLabels(ctx, repo, 1, []string{"x"}), forge.ErrDenied, "403 Resource not accessible"},
		} {
			if !errors.Is(tc.err, tc.want) || !strings.Contains(tc.err.Error(), tc.text) {
				t.Errorf("%s: %v, want %v with %q", tc.what, tc.err, tc.want, tc.text)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestIssuesAreAllReadInTheOrderTheyChanged(t *testing.T) {
	w := newEnv(t)
	c, ctx := w.client(t, "rob-token"), t.Context()
	const count = 230
	for n := range count {
		_, err := c.CreateIssue(ctx, repo, forge.NewIssue{Title: fmt.Sprint(n + 1)})
		must(t, err)
	}
	_, err := c.Comment(ctx, repo, 5, "again")
	must(t, err)
	issues, err := c.Issues(ctx, repo, time.Time{})
	must(t, err)
	if len(issues) != count || issues[0].Number != 1 || issues[4].Number != 6 || issues[count-1].Number != 5 {
		t.Errorf("%d issues, from %d to %d", len(issues), issues[0].Number, issues[len(issues)-1].Number)
	}
	since, err := c.Issues(ctx, repo, issues[count-3].UpdatedAt)
	must(t, err)
	if len(since) != 3 || since[2].Number != 5 {
		t.Errorf("since the last but two: %+v", since)
	}
}

func TestUnchangedAnswersAreConfirmedNotSentAgain(t *testing.T) {
	w := newEnv(t)
	c, ctx := w.client(t, "rob-token"), t.Context()
	made, err := c.CreateIssue(ctx, repo, forge.NewIssue{Title: "x"})
	must(t, err)
	for range 3 {
		got, err := c.Issue(ctx, repo, made.Number)
		must(t, err)
		if got.Title != "x" {
			t.Errorf("issue = %+v", got)
		}
	}
	if got := w.notModified.Load(); got != 2 {
		t.Errorf("%d of 3 answers were not modified, want 2", got)
	}
	_, err = c.Comment(ctx, repo, made.Number, "new")
	must(t, err)
	got, err := c.Issue(ctx, repo, made.Number)
	must(t, err)
	if !got.UpdatedAt.After(made.UpdatedAt) || w.notModified.Load() != 2 {
		t.Errorf("a change is not seen at once: %+v", got)
	}
}
