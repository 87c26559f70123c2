package github_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
)

func TestPullRequestsAreReadSinceATime(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	rob := w.client(t, "rob-token")
	var history forge.History = rob
	head := w.push(t, "rob-token", "fix/it", "a.txt", "one\n")
	const count = 4
	for n := range count {
		w.rest(t, "rob-token", "POST", "/git/refs", fmt.Sprintf(`{"ref":"refs/heads/b/%d","sha":%q}`, n, head))
		_, err := rob.CreatePullRequest(ctx, repo, forge.NewPullRequest{
			Title: fmt.Sprint(n), Body: strings.Repeat("long ", 10_000), Head: fmt.Sprintf("b/%d", n), Base: "main",
		})
		must(t, err)
	}
	w.rest(t, "rob-token", "PATCH", "/pulls/3", `{"state":"closed"}`)
	all, err := history.PullRequests(ctx, repo, time.Time{})
	must(t, err)
	last := all[count-1]
	if len(all) != count || all[0].Number != 1 || last.Number != 3 || last.State != "closed" || last.Merged || last.MergeSHA != "" {
		t.Fatalf("%d pull requests, the last %+v", len(all), last)
	}
	w.requests.Store(0)
	w.notModified.Store(0)
	since, err := history.PullRequests(ctx, repo, all[count-2].UpdatedAt)
	must(t, err)
	if len(since) != 2 || since[0].Number != count || since[1].Number != 3 {
		t.Errorf("since the last but one: %+v", since)
	}
	if w.requests.Load() != 1 || w.notModified.Load() != 1 {
		t.Errorf("it took %d requests, %d of them confirmed", w.requests.Load(), w.notModified.Load())
	}
}

// TestPagesAreReadUntilWhatIsOlder has a pull request move to the first page
// while the second is read, which pushes another one to the second again.
func TestPagesAreReadUntilWhatIsOlder(t *testing.T) {
	pages := [][]int{{9, 8, 7}, {7, 6, 5}, {4, 3, 2}, {1}}
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?page=%d>; rel="next"`, r.Host, r.URL.Path, asked+2))
		var rows []map[string]any
		for _, n := range pages[asked] {
			rows = append(rows, map[string]any{"number": n, "updated_at": time.Unix(int64(n), 0).UTC()})
		}
		asked++
		_ = json.NewEncoder(w).Encode(rows)
	}))
	defer server.Close()
	c, err := github.New(github.Config{BaseURL: server.URL})
	must(t, err)
	got, err := c.PullRequests(t.Context(), repo, time.Unix(3, 0))
	must(t, err)
	numbers := ""
	for _, pr := range got {
		numbers += fmt.Sprint(pr.Number)
	}
	if numbers != "3456789" || asked != 3 {
		t.Errorf("pull requests %s by %d requests", numbers, asked)
	}
}

func TestWhatMentionsAnIssue(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	rob := w.client(t, "rob-token")
	_, err := rob.CreateIssue(ctx, repo, forge.NewIssue{Title: "It breaks"})
	must(t, err)
	head := w.push(t, "rob-token", "fix/it", "a.txt", "one\n")
	for n, body := range []string{"Closes #1", "Like #1, but not it", "Nothing of #10", "Fixes: #1"} {
		w.rest(t, "rob-token", "POST", "/git/refs", fmt.Sprintf(`{"ref":"refs/heads/b/%d","sha":%q}`, n, head))
		_, err := rob.CreatePullRequest(ctx, repo, forge.NewPullRequest{Title: "x", Body: body, Head: fmt.Sprintf("b/%d", n), Base: "main"})
		must(t, err)
	}
	w.rest(t, "rob-token", "PATCH", "/pulls/5", `{"state":"closed"}`)
	got, err := rob.Mentions(ctx, repo, 1)
	must(t, err)
	want := "2 true open, 3 false open, 5 true closed"
	said := ""
	for _, m := range got {
		said += fmt.Sprintf(", %d %t %s", m.Number, m.Closes, m.State)
		if !m.Author.Bot || m.Author.Login != "rob[bot]" || m.Author.ID == 0 || m.URL != fmt.Sprintf("%s/acme/widgets/pull/%d", w.url, m.Number) {
			t.Errorf("mention = %+v", m)
		}
	}
	if said != ", "+want {
		t.Errorf("mentions = %q, want %q", said, want)
	}
	if _, err := rob.Mentions(ctx, repo, 99); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("of an issue that is none: %v", err)
	}
}

func TestPushesAndCommitsTellWhoAndWhen(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	rob := w.client(t, "rob-token")
	w.propose(t, forge.NewPullRequest{})
	first := w.push(t, "rob-token", "fix/it", "a.txt", "one\n")
	second := w.push(t, "ada-token", "fix/it", "b.txt", "two\n")
	pushes, err := rob.Pushes(ctx, repo, "fix/it")
	must(t, err)
	if len(pushes) != 2 || pushes[0].After != second || pushes[0].Before != first || pushes[0].Actor.Login != "ada" || pushes[0].Kind != "push" ||
		pushes[1].Actor.Login != "rob[bot]" || !pushes[0].At.After(pushes[1].At) {
		t.Errorf("pushes = %+v", pushes)
	}
	commits, err := rob.Commits(ctx, repo, 1)
	must(t, err)
	if len(commits) != 3 || commits[2].SHA != second || commits[2].Subject != "Write b.txt" || len(commits[2].Parents) != 1 || commits[2].Parents[0] != first || commits[2].At.IsZero() {
		t.Errorf("commits = %+v", commits)
	}
}
