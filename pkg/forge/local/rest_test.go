package local_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge/local"
)

func newIssue(t *testing.T, c *github.Client, title string, labels ...string) *github.Issue {
	t.Helper()
	i, _, err := c.Issues.Create(t.Context(), owner, name, &github.IssueRequest{Title: &title, Labels: &labels})
	must(t, err)
	return i
}

func TestMoreThanAHundredCommentsComeInPages(t *testing.T) {
	w := newWorld(t)
	ada := w.client(t, adaToken)
	newIssue(t, ada, "Long")
	var middle time.Time
	for n := range 105 {
		c, _, err := ada.Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String(strconv.Itoa(n))})
		must(t, err)
		if n == 100 {
			middle = c.GetCreatedAt().Time
		}
	}
	var got []string
	options := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 50}}
	for {
		rows, resp, err := ada.Issues.ListComments(t.Context(), owner, name, 1, options)
		must(t, err)
		for _, row := range rows {
			got = append(got, row.GetBody())
		}
		if resp.NextPage == 0 {
			if resp.PrevPage != 2 || resp.FirstPage != 1 {
				t.Errorf("the last page links to %+v", resp)
			}
			break
		}
		if resp.LastPage != 3 {
			t.Errorf("last page = %d, want 3", resp.LastPage)
		}
		options.Page = resp.NextPage
	}
	for n := range 105 {
		if n >= len(got) || got[n] != strconv.Itoa(n) {
			t.Fatalf("comments = %v", got)
		}
	}
	// Over 100 a page is 100, and all of the repository's comments are there too.
	rows, _, err := ada.Issues.ListComments(t.Context(), owner, name, 0, &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 500}})
	must(t, err)
	if len(rows) != 100 {
		t.Errorf("a page of 500 has %d", len(rows))
	}
	since, _, err := ada.Issues.ListComments(t.Context(), owner, name, 1, &github.IssueListCommentsOptions{Since: &middle})
	must(t, err)
	if len(since) != 5 || since[0].GetBody() != "100" {
		t.Errorf("since the hundredth there are %d", len(since))
	}
}

func TestIssuesAreFilteredAndSorted(t *testing.T) {
	w := newWorld(t)
	ada, max := w.client(t, adaToken), w.client(t, maxToken)
	newIssue(t, ada, "one", "bug", "ui")
	newIssue(t, ada, "two", "bug")
	three := newIssue(t, max, "three")
	newIssue(t, ada, "four")
	_, _, err := ada.Issues.Edit(t.Context(), owner, name, 4, &github.IssueRequest{State: github.String("closed"), StateReason: github.String("not_planned")})
	must(t, err)
	_, _, err = ada.Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String("x")})
	must(t, err)
	for _, tc := range []struct {
		what    string
		options github.IssueListByRepoOptions
		want    string
	}{
		{"open ones, newest first, by default", github.IssueListByRepoOptions{}, "three two one"},
		{"closed ones", github.IssueListByRepoOptions{State: "closed"}, "four"},
		{"all", github.IssueListByRepoOptions{State: "all"}, "four three two one"},
		{"oldest first", github.IssueListByRepoOptions{Direction: "asc"}, "one two three"},
		{"by change", github.IssueListByRepoOptions{Sort: "updated", Direction: "asc"}, "two three one"},
		{"by comments", github.IssueListByRepoOptions{Sort: "comments"}, "one three two"},
		{"with a label", github.IssueListByRepoOptions{Labels: []string{"BUG"}}, "two one"},
		{"with two labels", github.IssueListByRepoOptions{Labels: []string{"bug", "ui"}}, "one"},
		{"by somebody", github.IssueListByRepoOptions{Creator: "max"}, "three"},
		{"since a time, that time included", github.IssueListByRepoOptions{Since: three.GetUpdatedAt().Time}, "three one"},
	} {
		t.Run(tc.what, func(t *testing.T) {
			rows, _, err := ada.Issues.ListByRepo(t.Context(), owner, name, &tc.options)
			must(t, err)
			var titles []string
			for _, row := range rows {
				titles = append(titles, row.GetTitle())
			}
			if got := strings.Join(titles, " "); got != tc.want {
				t.Errorf("issues = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestIssueCanBeClosedAndReopened(t *testing.T) {
	w := newWorld(t)
	ada := w.client(t, adaToken)
	newIssue(t, ada, "x")
	closed, _, err := ada.Issues.Edit(t.Context(), owner, name, 1, &github.IssueRequest{State: github.String("closed")})
	must(t, err)
	if closed.GetState() != "closed" || closed.GetStateReason() != "completed" || closed.ClosedAt == nil || closed.GetClosedBy().GetLogin() != "ada" {
		t.Errorf("closed = %v", closed)
	}
	open, _, err := ada.Issues.Edit(t.Context(), owner, name, 1, &github.IssueRequest{State: github.String("open")})
	must(t, err)
	if open.GetState() != "open" || open.GetStateReason() != "reopened" || open.ClosedAt != nil {
		t.Errorf("reopened = %v", open)
	}
}

func TestLabelsAreAddedReplacedAndRemoved(t *testing.T) {
	w := newWorld(t)
	ada := w.client(t, adaToken)
	newIssue(t, ada, "x", "bug")
	names := func(labels []*github.Label, _ *github.Response, err error) string {
		t.Helper()
		must(t, err)
		var names []string
		for _, l := range labels {
			names = append(names, l.GetName())
		}
		return strings.Join(names, ", ")
	}
	ctx := t.Context()
	if got := names(ada.Issues.AddLabelsToIssue(ctx, owner, name, 1, []string{"signalbox:needs input", "Bug"})); got != "bug, signalbox:needs input" {
		t.Errorf("added: %s", got)
	}
	_, err := ada.Issues.RemoveLabelForIssue(ctx, owner, name, 1, "signalbox:needs%20input")
	must(t, err)
	if got := names(ada.Issues.ListLabelsByIssue(ctx, owner, name, 1, nil)); got != "bug" {
		t.Errorf("after removing: %s", got)
	}
	if got := names(ada.Issues.ReplaceLabelsForIssue(ctx, owner, name, 1, []string{"a", "b"})); got != "a, b" {
		t.Errorf("replaced: %s", got)
	}
	_, err = ada.Issues.RemoveLabelsForIssue(ctx, owner, name, 1)
	must(t, err)
	if got := names(ada.Issues.ListLabels(ctx, owner, name, nil)); got != "bug, signalbox:needs input, a, b" {
		t.Errorf("the repository's: %s", got)
	}
	_, _, err = ada.Issues.CreateLabel(ctx, owner, name, &github.Label{Name: github.String("BUG"), Color: github.String("ff0000")})
	if status, _ := refusal(t, err); status != http.StatusUnprocessableEntity {
		t.Errorf("a label that exists: %v", err)
	}
}

func TestDeletedCommentIsGone(t *testing.T) {
	w := newWorld(t)
	ada, max := w.client(t, adaToken), w.client(t, maxToken)
	newIssue(t, ada, "x")
	c, _, err := ada.Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String("x")})
	must(t, err)
	_, err = max.Issues.DeleteComment(t.Context(), owner, name, c.GetID())
	if status, _ := refusal(t, err); status != http.StatusForbidden {
		t.Errorf("deleting another's comment: %v", err)
	}
	_, err = ada.Issues.DeleteComment(t.Context(), owner, name, c.GetID())
	must(t, err)
	_, _, err = ada.Issues.GetComment(t.Context(), owner, name, c.GetID())
	if status, _ := refusal(t, err); status != http.StatusNotFound {
		t.Errorf("reading it: %v", err)
	}
	rows, _, err := ada.Issues.ListComments(t.Context(), owner, name, 1, nil)
	must(t, err)
	if len(rows) != 0 {
		t.Errorf("comments = %v", rows)
	}
}

func TestUnchangedAnswerIsNotModifiedAndCostsNothing(t *testing.T) {
	w := newWorld(t)
	ada := w.client(t, adaToken)
	newIssue(t, ada, "x")
	path := "/api/v3/repos/acme/widgets/issues/1"
	first, _ := w.ask(t, "GET", path, adaToken, "")
	tag, used := first.Header.Get("ETag"), first.Header.Get("X-RateLimit-Used")
	second, body := w.ask(t, "GET", path, adaToken, "", "If-None-Match", tag)
	if second.StatusCode != http.StatusNotModified || body != "" || second.Header.Get("X-RateLimit-Used") != used {
		t.Errorf("answer = %d %q, used %s, want 304 and %s", second.StatusCode, body, second.Header.Get("X-RateLimit-Used"), used)
	}
	_, _, err := ada.Issues.CreateComment(t.Context(), owner, name, 1, &github.IssueComment{Body: github.String("x")})
	must(t, err)
	third, _ := w.ask(t, "GET", path, adaToken, "", "If-None-Match", tag)
	if third.StatusCode != http.StatusOK || third.Header.Get("ETag") == tag {
		t.Errorf("after a change: %d, ETag %s", third.StatusCode, third.Header.Get("ETag"))
	}
}

func TestSpentQuotaIsRefusedUntilTheHourIsOver(t *testing.T) {
	w := newWorld(t, func(c *local.Config) { c.RateLimit = 2 })
	for range 2 {
		resp, body := w.ask(t, "GET", "/user", adaToken, "")
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", resp.StatusCode, body)
		}
	}
	resp, body := w.ask(t, "GET", "/user", adaToken, "")
	if resp.StatusCode != http.StatusForbidden || resp.Header.Get("X-RateLimit-Remaining") != "0" || !strings.Contains(body, "API rate limit exceeded") {
		t.Errorf("the third: %d %s", resp.StatusCode, body)
	}
	if resp, _ := w.ask(t, "GET", "/user", robToken, ""); resp.StatusCode != http.StatusOK {
		t.Errorf("another account: %d", resp.StatusCode)
	}
	w.clock.now = w.clock.now.Add(time.Hour)
	if resp, _ := w.ask(t, "GET", "/user", adaToken, ""); resp.StatusCode != http.StatusOK {
		t.Errorf("an hour later: %d", resp.StatusCode)
	}
}

func TestNumbersAreUniqueWhateverComesAtOnce(t *testing.T) {
	w := newWorld(t)
	ada := w.client(t, adaToken)
	var wait sync.WaitGroup
	numbers := make([]int, 40)
	for n := range numbers {
		wait.Go(func() {
			i, _, err := ada.Issues.Create(t.Context(), owner, name, &github.IssueRequest{Title: github.String(fmt.Sprint(n))})
			if err != nil {
				t.Error(err)
				return
			}
			numbers[n] = i.GetNumber()
		})
	}
	wait.Wait()
	slices.Sort(numbers)
	for n, number := range numbers {
		if number != n+1 {
			t.Fatalf("numbers = %v", numbers)
		}
	}
}

func TestBranchesRefsAndContents(t *testing.T) {
	w := newWorld(t)
	rob, ctx := w.client(t, robToken), t.Context()
	main, _, err := rob.Git.GetRef(ctx, owner, name, "heads/main")
	must(t, err)
	sha := main.GetObject().GetSHA()
	_, _, err = rob.Git.CreateRef(ctx, owner, name, &github.Reference{Ref: github.String("refs/heads/a/b"), Object: &github.GitObject{SHA: &sha}})
	must(t, err)
	_, _, err = rob.Git.CreateRef(ctx, owner, name, &github.Reference{Ref: github.String("refs/heads/a/b"), Object: &github.GitObject{SHA: &sha}})
	if status, message := refusal(t, err); status != http.StatusUnprocessableEntity || message != "Reference already exists" {
		t.Errorf("making it twice: %v", err)
	}
	branch, _, err := rob.Repositories.GetBranch(ctx, owner, name, "a/b", 0)
	must(t, err)
	branches, _, err := rob.Repositories.ListBranches(ctx, owner, name, nil)
	must(t, err)
	if branch.GetCommit().GetSHA() != sha || len(branches) != 2 {
		t.Errorf("branch = %v, branches = %v", branch, branches)
	}
	commit, _, err := rob.Repositories.GetCommit(ctx, owner, name, sha, nil)
	must(t, err)
	if commit.GetCommit().GetMessage() != "Begin" || commit.GetStats().GetAdditions() != 1 || commit.Files[0].GetFilename() != "README.md" {
		t.Errorf("commit = %v", commit)
	}
	commits, _, err := rob.Repositories.ListCommits(ctx, owner, name, nil)
	must(t, err)
	if len(commits) != 1 || commits[0].GetSHA() != sha {
		t.Errorf("commits = %v", commits)
	}
	file, _, _, err := rob.Repositories.GetContents(ctx, owner, name, "README.md", &github.RepositoryContentGetOptions{Ref: "a/b"})
	must(t, err)
	if content, err := file.GetContent(); err != nil || content != "# Widgets\n" {
		t.Errorf("content = %q, err = %v", content, err)
	}
	_, entries, _, err := rob.Repositories.GetContents(ctx, owner, name, "", nil)
	if err == nil && (len(entries) != 1 || entries[0].GetType() != "file") {
		t.Errorf("the root = %v", entries)
	}
	if _, _, err := rob.Repositories.GetBranchProtection(ctx, owner, name, "a/b"); !errors.Is(err, github.ErrBranchNotProtected) {
		t.Errorf("protection: %v", err)
	}
	if rules, _, err := rob.Repositories.GetRulesForBranch(ctx, owner, name, "a/b"); err != nil || len(rules) != 0 {
		t.Errorf("rules = %v, err = %v", rules, err)
	}
	must(t, deleteBranch(ctx, rob, "a/b"))
	if err := deleteBranch(ctx, rob, "main"); err == nil {
		t.Error("the default branch was deleted")
	}
	for _, bad := range []string{"refs/pull/1/head", "refs/heads/a..b", "refs/heads/--x/.y", "HEAD"} {
		_, err := rob.Git.DeleteRef(ctx, owner, name, strings.TrimPrefix(bad, "refs/"))
		resp, _ := w.ask(t, "POST", "/repos/acme/widgets/git/refs", robToken, fmt.Sprintf(`{"ref":%q,"sha":%q}`, bad, sha))
		if err == nil || resp.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s could be made (%d) or deleted (%v)", bad, resp.StatusCode, err)
		}
	}
}

func TestRenamedAndBinaryFilesAreListedAsWhatTheyAre(t *testing.T) {
	w := newWorld(t)
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	run(t, work, "checkout", "-q", "-b", "topic")
	run(t, work, "mv", "README.md", "Read me, please.md")
	write(t, work, "data.bin", "\x00\x01\x02")
	write(t, work, "odd\nname", "diff --git a/x b/x\n")
	run(t, work, "add", ".")
	run(t, work, "commit", "-q", "-m", "Move")
	run(t, work, "push", "-q", "origin", "topic")
	_, _, err := rob.PullRequests.Create(t.Context(), owner, name, &github.NewPullRequest{Title: github.String("x"), Head: github.String("topic"), Base: github.String("main")})
	must(t, err)
	files, _, err := rob.PullRequests.ListFiles(t.Context(), owner, name, 1, nil)
	must(t, err)
	var got []string
	for _, f := range files {
		got = append(got, fmt.Sprintf("%s %q <%s> +%d %q", f.GetStatus(), f.GetFilename(), f.GetPreviousFilename(), f.GetAdditions(), f.GetPatch()))
	}
	want := []string{
		`renamed "Read me, please.md" <README.md> +0 ""`,
		`added "data.bin" <> +0 ""`,
		`added "odd\nname" <> +1 "@@ -0,0 +1 @@\n+diff --git a/x b/x"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("files = %s", strings.Join(got, "\n"))
	}
}

func TestWorksWithoutThePrefixToo(t *testing.T) {
	w := newWorld(t)
	c := github.NewClient(nil).WithAuthToken(adaToken)
	base, err := c.BaseURL.Parse(w.url + "/")
	must(t, err)
	c.BaseURL = base
	newIssue(t, c, "x")
	var out bytes.Buffer
	r, err := c.NewRequest("GET", "repos/acme/widgets/issues?state=all", nil)
	must(t, err)
	_, err = c.Do(t.Context(), r, &out)
	must(t, err)
	if !strings.Contains(out.String(), `"title":"x"`) {
		t.Errorf("issues = %s", out.String())
	}
}
