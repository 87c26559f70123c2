package app

import (
	"slices"
	"strings"
	"testing"
)

// The four scenarios that the story lifecycle names.

func TestReviewerApprovesWithoutCommenting(t *testing.T) {
	w := newWorld(t)
	s := w.begin("US-1", 0).proposed()
	if pr := s.on(); pr["draft"] != true || pr["head"].(object)["ref"] != "signalbox/story-us-1" || s.get().GetVars()["lastActivityBy"] != "bot" {
		t.Errorf("the pull request is %v, vars are %v", pr["head"], s.get().GetVars())
	}
	w.bob.status(s.head(), "success")
	s.stands(s.told(), "approvals pending")
	w.ann.approve(s.pull)
	s.tell()
	in := s.reaches("merged")
	if pr := s.on(); pr["merged"] != true || pr["merge_commit_sha"] != evidenceOf(in, "merged").GetData()["sha"] || w.merges != 1 {
		t.Errorf("the pull request is merged: %v, as %v after %d calls; the evidence is %v", pr["merged"], pr["merge_commit_sha"], w.merges, evidenceOf(in, "merged"))
	}
	if readme := w.ann.clone("trunk"); !strings.Contains(read(t, readme.Dir(), "hello.txt"), "hello") {
		t.Error("trunk has not what the story brought")
	}
	want := []string{
		"committed: all acceptance criteria pass", "pushed: the pull request is there", "pushed: every gate passes; it is merged next",
		"merged: the pull request is merged",
	}
	if got := s.moves(); !slices.Equal(got, want) {
		t.Errorf("it went %q, want %q", got, want)
	}
}
