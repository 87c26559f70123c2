package localforge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/git/gittest"
)

func TestMergeMethods(t *testing.T) {
	for method, want := range map[string]string{
		"merge":  "Merge pull request #1 from acme/topic|Second|First|Begin",
		"squash": "Two things (#1)|Begin",
		"rebase": "Second|First|Aside|Begin",
	} {
		t.Run(method, func(t *testing.T) {
			w := newEnv(t)
			rob, work := w.client(t, robToken), w.clone(t, robToken)
			for _, message := range []string{"First", "Second"} {
				gittest.Run(t, work, "checkout", "-q", "-B", "topic")
				StoreXWrite(t, work, message, message)
				gittest.Run(t, work, "add", ".")
				gittest.Run(t, work, "commit", "-q", "-m", message)
			}
			gittest.Run(t, work, "push", "-q", "origin", "topic")
			_, _, err := rob.PullRequests.Create(t.Context(), owner, name, &github.NewPullRequest{
				Title: github.String("Two things"), Head: github.String("topic"), Base: github.String("main"),
			})
			must(t, err)
			if method == "rebase" { // there must be something to put the commits on
				gittest.Run(t, work, "checkout", "-q", "main")
				gittest.Run(t, work, "commit", "-q", "--allow-empty", "-m", "Aside")
				gittest.Run(t, work, "push", "-q", "origin", "main")
			}
			_, _, err = rob.PullRequests.Merge(t.Context(), owner, name, 1, "", &github.PullRequestOptions{MergeMethod: method})
			must(t, err)
			fresh := w.clone(t, adaToken)
			got := strings.ReplaceAll(gittest.Run(t, fresh, "log", "--format=%s", "--topo-order"), "\n", "|")
			if got != want {
				t.Errorf("main = %s, want %s", got, want)
			}
			if tree := gittest.Run(t, fresh, "ls-tree", "--name-only", "HEAD"); tree != "First\nREADME.md\nSecond" {
				t.Errorf("files = %q", tree)
			}
		})
	}
}

func TestConflictIsToldAndNotMerged(t *testing.T) {
	w := newEnv(t)
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	pr := w.propose(t, rob, work, "ours", "README.md", "# Ours\n")
	gittest.Run(t, work, "checkout", "-q", "main")
	StoreXPush(t, work, "main", "README.md", "# Theirs\n")

	pr, _, err := rob.PullRequests.Get(t.Context(), owner, name, pr.GetNumber())
	must(t, err)
	if pr.Mergeable == nil || *pr.Mergeable || pr.GetMergeableState() != "dirty" {
		t.Errorf("mergeable = %v, state = %s", pr.Mergeable, pr.GetMergeableState())
	}
	_, _, err = rob.PullRequests.Merge(t.Context(), owner, name, pr.GetNumber(), "", &github.PullRequestOptions{SHA: pr.GetHead().GetSHA()})
	if status, message := refusal(t, err); status != http.StatusMethodNotAllowed || !strings.Contains(message, "conflict") {
		t.Errorf("err = %v", err)
	}
}

func TestPullRequestThatIsMergedByAPushIsMerged(t *testing.T) {
	w := newEnv(t)
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	pr := w.propose(t, rob, work, "topic", "topic.txt", "x\n")
	gittest.Run(t, work, "push", "-q", "origin", "topic:main")
	pr, _, err := rob.PullRequests.Get(t.Context(), owner, name, pr.GetNumber())
	must(t, err)
	if !pr.GetMerged() || pr.GetMergedBy().GetLogin() != "rob[bot]" {
		t.Errorf("merged = %t by %s", pr.GetMerged(), pr.GetMergedBy().GetLogin())
	}
}
