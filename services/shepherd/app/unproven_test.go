package app

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/localforge"
)

func TestAnUnprovenDraftIsNeverMergedByUs(t *testing.T) {
	w := newEnv(t)
	w.does(func(agent.Job) change { return change{file: "a.txt", text: "a\n", unproven: true} })
	s := w.begin("US-1", 0).proposed()
	w.bob.status(s.head(), "success")
	w.ann.approve(s.pull)
	in := s.told()
	s.stands(in, "shown pending")
	if _, reason := gate(in, "shown"); !s.draft() || w.merged() != 0 || !strings.HasPrefix(reason, "unproven: all tests that ran passed before") {
		t.Fatalf("it is a draft: %v, merged %d times; the gate says %q", s.draft(), w.merged(), reason)
	}
	w.ann.ready(s.pull)
	s.tell()
	s.reaches("merged")
}

func TestUnprovenWorkIsHeldWhereTheRepositoryHasNoDrafts(t *testing.T) {
	w := newEnvOf(t, func(c *localforge.Config) { c.NoDrafts = true })
	w.does(func(agent.Job) change { return change{file: "a.txt", text: "a\n", unproven: true} })
	s := w.begin("US-1", 0).proposed()
	w.bob.status(s.head(), "success")
	w.ann.approve(s.pull)
	in := s.told()
	s.stands(in, "shown pending")
	if _, reason := gate(in, "shown"); s.draft() || w.merged() != 0 || !strings.Contains(reason, "a person merges it") {
		t.Fatalf("it is a draft: %v, merged %d times; the gate says %q", s.draft(), w.merged(), reason)
	}
}

func TestAPullRequestThatBecomesUnprovenAfterWeEndedItsDraftIsHeld(t *testing.T) {
	w := newEnv(t)
	w.does(func(job agent.Job) change {
		if job.Question == nil {
			return change{file: "a.txt", text: "a\n"}
		}
		return change{file: "b.txt", text: "b\n", says: "I did what was asked.", unproven: true}
	})
	s := w.begin("US-1", 0).proposed()
	w.bob.status(s.head(), "success")
	if s.told(); s.draft() {
		t.Fatal("the draft of work that is shown does not end")
	}
	before := s.head()
	w.ann.review(s.pull, "REQUEST_CHANGES", "Please add b.txt.")
	s.tell()
	s.until("worked in", func(*instanceMessage) bool { return s.head() != before })
	w.bob.status(s.head(), "success")
	w.ann.approve(s.pull)
	w.bob.approve(s.pull)
	in := s.told()
	s.stands(in, "shown pending")
	if _, reason := gate(in, "shown"); w.merged() != 0 || !strings.Contains(reason, "a person merges it") {
		t.Fatalf("it is merged %d times; the gate says %q", w.merged(), reason)
	}
	w.ann.do("PUT", path("/pulls/%d/merge", s.pull), object{"merge_method": "squash", "sha": s.head()})
	s.tell()
	s.reaches("merged")
}
