package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The four scenarios that the story lifecycle names.

func TestReviewerApprovesWithoutCommenting(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	if pr := s.on(); pr["draft"] != true || pr["head"].(object)["ref"] != "signalbox/story-us-1" || s.get().GetVars()["lastActivityBy"] != "bot" {
		t.Errorf("the pull request is %v, vars are %v", pr["head"], s.get().GetVars())
	}
	w.bob.status(s.head(), "success")
	s.stands(s.told(), "approvals pending")
	w.ann.approve(s.pull)
	s.tell()
	in := s.reaches("merged")
	if pr := s.on(); pr["merged"] != true || pr["merge_commit_sha"] != evidenceOf(in, "merged").GetData()["sha"] || w.merged() != 1 {
		t.Errorf("the pull request is merged: %v, as %v after %d calls; the evidence is %v", pr["merged"], pr["merge_commit_sha"], w.merged(), evidenceOf(in, "merged"))
	}
	if trunk := w.ann.clone("trunk"); !strings.Contains(read(t, trunk.Dir(), "US-1.txt"), "hello") {
		t.Error("trunk has not what the story brought")
	}
	want := []string{
		"committed: all acceptance criteria pass", "pushed: the pull request is open", "pushed: every gate passes; it is merged next",
		"merged: the pull request is merged",
	}
	if got := s.moves(); !slices.Equal(got, want) {
		t.Errorf("it went %q, want %q", got, want)
	}
}

func TestReviewerNeverResponds(t *testing.T) {
	w := newEnv(t, "check_every: 1s")
	s := w.begin("US-1", 0).proposed()
	w.bob.status(s.head(), "success")
	first := s.rests(0)
	if until := first.GetParked().GetUntil(); until == nil || until.AsTime().Sub(first.GetUpdatedAt().AsTime()) != time.Second {
		t.Errorf("it waits until %v, from %v", until, first.GetUpdatedAt())
	}
	// Nobody says anything: it is looked at again and again, is not merged
	// without a review, and other stories are worked on.
	for range 3 {
		first = s.rests(first.GetSeq())
	}
	other := w.begin("US-2", 0).proposed()
	s.stands(s.rests(0), "approvals pending")
	// And when the approval is there at last, nobody has to tell.
	w.ann.approve(s.pull)
	s.reaches("merged")
	other.stands(other.rests(0), "no-failing-checks pending", "approvals pending")
}

func TestReviewerKeepsRequestingChanges(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	heads := []string{s.head()}
	for round := range 3 {
		w.ann.review(s.pull, "REQUEST_CHANGES", fmt.Sprintf("Round %d: be louder.\n### review 99 by ann", round))
		in := s.told()
		if now := s.head(); slices.Contains(heads, now) || in.GetHead() != now || in.GetVars()["lastActivityBy"] != "bot" {
			t.Fatalf("after round %d the head is %s, before it was %q; vars are %v", round, now, heads, in.GetVars())
		}
		heads = append(heads, s.head())
		s.stands(in, "no-failing-checks pending", "approvals pending", "no-changes-requested fail")
		if asked := w.heard()[len(w.heard())-1]; len(w.heard()) != round+1 || strings.Count(asked, "be louder") != 1 || len(remarksIn(asked)) != 1 {
			t.Errorf("in round %d the developer was asked %d times, last\n%s", round, len(w.heard()), asked)
		}
	}
	for i, comment := range w.said(s.pull) {
		if !strings.Contains(comment, "I worked this in with `"+heads[i+1][:12]+"`") || !strings.Contains(comment, "> I did what was asked.") {
			t.Errorf("answer %d is %q", i, comment)
		}
	}
	if said := w.said(s.pull); len(said) != 3 {
		t.Errorf("there are %d answers: %q", len(said), said)
	}
	want := slices.Repeat([]string{"pushed: a reviewer went last", "pushed: the feedback is applied and all acceptance criteria pass"}, 3)
	if got := s.moves()[2:]; !slices.Equal(got, want) {
		t.Errorf("it went %q, want %q", got, want)
	}
	w.ann.approve(s.pull)
	w.bob.status(s.head(), "success")
	s.tell()
	s.reaches("merged")
}

func TestReviewersWhoAreNeverContentComeToPeople(t *testing.T) {
	w := newEnv(t, "max_rounds: 3")
	s := w.begin("US-1", 0).proposed()
	for round := range 2 {
		w.ann.review(s.pull, "REQUEST_CHANGES", fmt.Sprint("Again ", round))
		s.tell()
		if round == 0 {
			s.rests(0)
		}
	}
	in := s.escalated()
	if e := in.GetEscalations()[0]; e.GetReason() != "3 rounds without an end" {
		t.Errorf("it is put to people: %v", e)
	}
	if _, err := w.client.Resolve(w.ctx, s.id, 0, "go on"); err != nil {
		t.Fatal(err)
	}
	s.rests(in.GetSeq())
	if said := w.said(s.pull); len(said) != 2 {
		t.Errorf("there are %d answers: %q", len(said), said)
	}
}

func TestMultipleStoriesInReview(t *testing.T) {
	w := newEnv(t)
	var all []*tale
	for i := range 3 {
		all = append(all, w.begin(fmt.Sprint("US-", i), 0, "priority", fmt.Sprint(i+1)).proposed())
	}
	waits, approved, asked := all[0], all[1], all[2]
	w.ann.comment(asked.pull, "Please say it twice.")
	w.ann.approve(approved.pull)
	w.bob.status(approved.head(), "success")
	before := waits.get().GetSeq()
	approved.tell()
	asked.tell()
	w.begin("US-9", 0).proposed() // new work goes on meanwhile
	approved.reaches("merged")
	in := asked.until("answered", func(in *instanceMessage) bool {
		return in.GetVars()["answered"] != "0" && in.GetVars()["answered"] != ""
	})
	if len(w.heard()) != 1 || !strings.Contains(w.heard()[0], "> Please say it twice.") || in.GetVars()["lastActivityBy"] != "bot" {
		t.Errorf("the developer was asked %q; vars are %v", w.heard(), in.GetVars())
	}
	if in := waits.rests(0); in.GetSeq() != before || in.GetVars()["lastActivityBy"] != "bot" {
		t.Errorf("the story that waits for its reviewer was touched: %v", in.GetVars())
	}
}

func TestTheMostUrgentStoryComesFirst(t *testing.T) {
	w := newEnv(t)
	answered := w.begin("answered", 0, "priority", "9").proposed()
	waiting := w.begin("waiting", 0, "priority", "1").proposed()
	busy, free := make(chan struct{}), make(chan struct{})
	w.onClaim(func() {
		w.onClaim(nil)
		close(busy)
		<-free
	})
	w.begin("busy", 0)
	<-busy
	// While the shepherd has other work, the least urgent comes first.
	w.begin("new", 0, "priority", "1")
	w.begin("later", 0, "priority", "2", "state", "committed", "branch", "later")
	w.begin("sooner", 0, "priority", "1", "state", "committed", "branch", "sooner")
	waiting.tell()
	if _, err := w.client.Signal(w.ctx, answered.id, "reviewed", "r1", "gateway", nil); err != nil {
		t.Fatal(err)
	}
	before := len(w.claims())
	close(free)
	want := []string{"answered", "waiting", "sooner", "later"} // and only then new work
	w.until(func() bool { return len(w.claims()) >= before+len(want) })
	if got := w.claims()[before:]; !slices.Equal(got[:len(want)], want) {
		t.Errorf("the shepherd took %q, want %q", got, want)
	}
}
