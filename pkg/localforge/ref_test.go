package localforge_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"
)

func TestBranchesRefsAndContents(t *testing.T) {
	w := newEnv(t)
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
