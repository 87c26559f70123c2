package github_test

import (
	"errors"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge"
)

func TestWhatIsSaidInARepositoryIsListedAndReactedTo(t *testing.T) {
	w := newEnv(t)
	ctx, ada, rob := t.Context(), w.client(t, "ada-token"), w.client(t, "rob-token")
	_, err := ada.CreateIssue(ctx, repo, forge.NewIssue{Title: "x"})
	must(t, err)
	_, err = ada.CreatePullRequest(ctx, repo, forge.NewPullRequest{Title: "Fix it", Head: "fix/it", Base: "main"})
	must(t, err)
	first, err := ada.Comment(ctx, repo, 1, "on the issue")
	must(t, err)
	second, err := ada.Comment(ctx, repo, 2, "on the pull request")
	must(t, err)
	got, err := rob.Discussed(ctx, repo, first.CreatedAt)
	must(t, err)
	if len(got) != 2 || got[0].ID != first.ID || got[0].On != 1 || got[1].ID != second.ID || got[1].On != 2 {
		t.Errorf("it lists %+v", got)
	}
	if got, err := rob.Discussed(ctx, repo, second.UpdatedAt); err != nil || len(got) != 1 {
		t.Errorf("since the second it lists %+v, %v", got, err)
	}
	for range 2 { // the same again changes nothing
		must(t, rob.React(ctx, repo, first.ID, forge.Eyes))
	}
	must(t, rob.React(ctx, repo, first.ID, forge.Rocket))
	must(t, rob.React(ctx, repo, second.ID, forge.Confused))
	must(t, ada.WithdrawComment(ctx, repo, second.ID))
	if err := rob.React(ctx, repo, second.ID, forge.Eyes); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("on a deleted comment: %v", err)
	}
}
