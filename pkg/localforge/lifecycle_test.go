package localforge_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// TestFromIssueToMerge walks the whole way with nothing but go-github and git.
func TestFromIssueToMerge(t *testing.T) {
	w := newEnv(t)
	ctx := t.Context()
	ada, rob := w.client(t, adaToken), w.client(t, robToken)

	_, _, err := rob.Users.Get(ctx, "")
	if status, message := refusal(t, err); status != 403 || message != "Resource not accessible by integration" {
		t.Errorf("who a bot is: %d %s", status, message)
	}
	self, _, err := rob.Users.Get(ctx, "rob%5Bbot%5D")
	must(t, err)
	if self.GetLogin() != "rob[bot]" || self.GetType() != "Bot" {
		t.Errorf("rob is %s, a %s", self.GetLogin(), self.GetType())
	}
	repo, _, err := rob.Repositories.Get(ctx, owner, name)
	must(t, err)
	if repo.GetDefaultBranch() != "main" || repo.GetCloneURL() != w.url+"/acme/widgets.git" || !repo.GetPermissions()["push"] {
		t.Errorf("repository = %v", repo)
	}

	labels := []string{"bug"}
	issue, resp, err := ada.Issues.Create(ctx, owner, name, &github.IssueRequest{
		Title: github.String("It breaks"), Body: github.String("Sometimes."), Labels: &labels,
	})
	must(t, err)
	if resp.StatusCode != http.StatusCreated || issue.GetNumber() != 1 || issue.GetState() != "open" || issue.Labels[0].GetName() != "bug" {
		t.Fatalf("issue = %v", issue)
	}
	comment, _, err := rob.Issues.CreateComment(ctx, owner, name, 1, &github.IssueComment{Body: github.String("When?")})
	must(t, err)
	edited, _, err := rob.Issues.EditComment(ctx, owner, name, comment.GetID(), &github.IssueComment{Body: github.String("When, exactly?")})
	must(t, err)
	if edited.GetBody() != "When, exactly?" || !edited.GetUpdatedAt().After(comment.GetCreatedAt().Time) {
		t.Errorf("edited comment = %v", edited)
	}
	issue, _, err = ada.Issues.Get(ctx, owner, name, 1)
	must(t, err)
	if issue.GetComments() != 1 || !issue.GetUpdatedAt().After(issue.GetCreatedAt().Time) {
		t.Errorf("the comment does not show on the issue: %v", issue)
	}

	work := w.clone(t, robToken)
	head := StoreXPush(t, work, "fix/it", "fix.txt", "fixed\n")
	pr, _, err := rob.PullRequests.Create(ctx, owner, name, &github.NewPullRequest{
		Title: github.String("Fix it"), Body: github.String("Closes #1"), Head: github.String("fix/it"), Base: github.String("main"),
	})
	must(t, err)
	if pr.GetNumber() != 2 || pr.GetHead().GetSHA() != head || pr.GetMerged() || !pr.GetMergeable() || pr.GetMergeableState() != "clean" ||
		pr.GetCommits() != 1 || pr.GetChangedFiles() != 1 || pr.GetAdditions() != 1 {
		t.Errorf("pull request = %v", pr)
	}

	t.Run("a push moves the pull request's head", func(t *testing.T) {
		head = StoreXPush(t, work, "fix/it", "more.txt", "more\n")
		pr, _, err = rob.PullRequests.Get(ctx, owner, name, 2)
		must(t, err)
		if pr.GetHead().GetSHA() != head || pr.GetCommits() != 2 {
			t.Errorf("head = %s with %d commits, want %s with 2", pr.GetHead().GetSHA(), pr.GetCommits(), head)
		}
		if got, _, _ := strings.Cut(gittest.Run(t, work, "ls-remote", "origin", "refs/pull/2/head"), "\t"); got != head {
			t.Errorf("refs/pull/2/head = %q, want %s", got, head)
		}
	})
	t.Run("commits, files, diff and patch are the branch's", func(t *testing.T) {
		commits, _, err := rob.PullRequests.ListCommits(ctx, owner, name, 2, nil)
		must(t, err)
		files, _, err := rob.PullRequests.ListFiles(ctx, owner, name, 2, nil)
		must(t, err)
		diff, _, err := rob.PullRequests.GetRaw(ctx, owner, name, 2, github.RawOptions{Type: github.Diff})
		must(t, err)
		patch, _, err := rob.PullRequests.GetRaw(ctx, owner, name, 2, github.RawOptions{Type: github.Patch})
		must(t, err)
		if len(commits) != 2 || commits[1].GetSHA() != head || commits[0].GetCommit().GetMessage() != "Write fix.txt" {
			t.Errorf("commits = %v", commits)
		}
		if len(files) != 2 || files[0].GetFilename() != "fix.txt" || files[0].GetStatus() != "added" || files[0].GetPatch() != "@@ -0,0 +1 @@\n+fixed" {
			t.Errorf("files = %v", files)
		}
		if !strings.Contains(diff, "+fixed\n") || !strings.HasPrefix(patch, "From ") || !strings.Contains(patch, "Subject: [PATCH 2/2]") {
			t.Errorf("diff = %q, patch = %q", diff, patch)
		}
	})
	t.Run("statuses and checks show in what can be merged", func(t *testing.T) {
		none, _, err := rob.Repositories.GetCombinedStatus(ctx, owner, name, head, nil)
		must(t, err)
		if none.GetState() != "pending" || none.GetTotalCount() != 0 {
			t.Errorf("without statuses the commit is %v", none)
		}
		_, _, err = rob.Repositories.CreateStatus(ctx, owner, name, head, &github.RepoStatus{State: github.String("success"), Context: github.String("build")})
		must(t, err)
		check, _, err := rob.Checks.CreateCheckRun(ctx, owner, name, github.CreateCheckRunOptions{Name: "test", HeadSHA: head, Status: github.String("in_progress")})
		must(t, err)
		if pr, _, err = rob.PullRequests.Get(ctx, owner, name, 2); err != nil || pr.GetMergeableState() != "unstable" {
			t.Errorf("while a check runs the state is %q, err = %v", pr.GetMergeableState(), err)
		}
		_, _, err = rob.Checks.UpdateCheckRun(ctx, owner, name, check.GetID(), github.UpdateCheckRunOptions{
			Name: "test", Conclusion: github.String("success"), Output: &github.CheckRunOutput{Title: github.String("All pass"), Summary: github.String("3 of 3")},
		})
		must(t, err)
		runs, _, err := rob.Checks.ListCheckRunsForRef(ctx, owner, name, "fix/it", nil)
		must(t, err)
		combined, _, err := rob.Repositories.GetCombinedStatus(ctx, owner, name, "fix/it", nil)
		must(t, err)
		if runs.GetTotal() != 1 || runs.CheckRuns[0].GetConclusion() != "success" || combined.GetState() != "success" {
			t.Errorf("runs = %v, combined = %v", runs, combined)
		}
		if pr, _, err = rob.PullRequests.Get(ctx, owner, name, 2); err != nil || pr.GetMergeableState() != "clean" {
			t.Errorf("when all is green the state is %q, err = %v", pr.GetMergeableState(), err)
		}
	})
	t.Run("a review is bound to its commit and can be dismissed", func(t *testing.T) {
		_, _, err := rob.PullRequests.CreateReview(ctx, owner, name, 2, &github.PullRequestReviewRequest{Event: github.String("APPROVE")})
		if status, _ := refusal(t, err); status != http.StatusUnprocessableEntity {
			t.Errorf("approving one's own pull request: %v", err)
		}
		first, _, err := ada.PullRequests.CreateReview(ctx, owner, name, 2, &github.PullRequestReviewRequest{Event: github.String("REQUEST_CHANGES"), Body: github.String("No.")})
		must(t, err)
		_, _, err = ada.PullRequests.DismissReview(ctx, owner, name, 2, first.GetID(), &github.PullRequestReviewDismissalRequest{Message: github.String("Mistaken.")})
		must(t, err)
		_, _, err = ada.PullRequests.CreateReview(ctx, owner, name, 2, &github.PullRequestReviewRequest{Event: github.String("APPROVE")})
		must(t, err)
		reviews, _, err := rob.PullRequests.ListReviews(ctx, owner, name, 2, nil)
		must(t, err)
		var states []string
		for _, r := range reviews {
			states = append(states, r.GetState()+" "+r.GetCommitID())
		}
		if want := []string{"DISMISSED " + head, "APPROVED " + head}; !slices.Equal(states, want) {
			t.Errorf("reviews = %v, want %v", states, want)
		}
	})
	t.Run("a merge of another head than the one seen is refused", func(t *testing.T) {
		_, _, err := rob.PullRequests.Merge(ctx, owner, name, 2, "", &github.PullRequestOptions{SHA: pr.GetBase().GetSHA()})
		if status, message := refusal(t, err); status != http.StatusConflict || !strings.HasPrefix(message, "Head branch was modified") {
			t.Errorf("err = %v", err)
		}
	})

	merged, _, err := rob.PullRequests.Merge(ctx, owner, name, 2, "", &github.PullRequestOptions{SHA: head, MergeMethod: "squash"})
	must(t, err)
	pr, _, err = ada.PullRequests.Get(ctx, owner, name, 2)
	must(t, err)
	if !pr.GetMerged() || pr.GetState() != "closed" || pr.GetMergeCommitSHA() != merged.GetSHA() || pr.GetMergedBy().GetLogin() != "rob[bot]" || pr.Mergeable != nil {
		t.Errorf("merged pull request = %v", pr)
	}
	if issue, _, err = ada.Issues.Get(ctx, owner, name, 1); err != nil || issue.GetState() != "closed" || issue.GetStateReason() != "completed" {
		t.Errorf("the issue it closes = %v, err = %v", issue, err)
	}
	compared, _, err := ada.Repositories.CompareCommits(ctx, owner, name, "main", merged.GetSHA(), nil)
	must(t, err)
	if compared.GetStatus() != "identical" {
		t.Errorf("main is %s to the merge", compared.GetStatus())
	}
	fresh := w.clone(t, maxToken)
	if got := gittest.Run(t, fresh, "log", "-1", "--format=%H %an %s"); got != merged.GetSHA()+" rob[bot] Fix it (#2)" {
		t.Errorf("the cloned main is at %q", got)
	}
	if got := gittest.Run(t, fresh, "show", "HEAD:fix.txt"); got != "fixed" {
		t.Errorf("fix.txt = %q", got)
	}
	_, _, err = rob.PullRequests.Merge(ctx, owner, name, 2, "", nil)
	if status, _ := refusal(t, err); status != http.StatusMethodNotAllowed {
		t.Errorf("merging twice: %v", err)
	}
	must(t, deleteBranch(ctx, rob, "fix/it"))
}

func deleteBranch(ctx context.Context, c *github.Client, branch string) error {
	_, err := c.Git.DeleteRef(ctx, owner, name, "heads/"+branch)
	return err
}

// propose pushes a branch and opens a pull request for it.
func (e *env) propose(t *testing.T, c *github.Client, work git.Runner, branch, file, content string) *github.PullRequest {
	t.Helper()
	StoreXPush(t, work, branch, file, content)
	pr, _, err := c.PullRequests.Create(t.Context(), owner, name, &github.NewPullRequest{
		Title: github.String("Write " + file), Head: github.String(branch), Base: github.String("main"),
	})
	must(t, err)
	return pr
}
