package app

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/localforge"
)

// paid waits until the shepherd owes no reply, and rests.
func (s *tale) paid() *instanceMessage {
	s.w.Helper()
	s.told()
	return s.until("at rest and owing nothing", func(in *instanceMessage) bool { return in.GetParked() != nil && in.GetVars()["owed"] == "" })
}

func TestAPullRequestThatTakesNoCommentHoldsNoFix(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	before := s.head()
	w.ann.comment(s.pull, "Say please.")
	w.failRequests("POST", "/comments", localforge.Fault{Status: http.StatusForbidden})
	in := s.told()
	if s.head() == before || in.GetHead() != s.head() || in.GetPaused() || len(w.said(s.pull)) != 0 {
		t.Errorf("the head is %s, before it was %s; it is paused: %v, said is %q", s.head(), before, in.GetPaused(), w.said(s.pull))
	}
	if owed := in.GetVars()["owed"]; !strings.Contains(owed, s.head()) {
		t.Errorf("it owes %q", owed)
	}
	if said := s.summaries(); !slices.ContainsFunc(said, func(text string) bool {
		return strings.Contains(text, "no comment reports it yet") && strings.Contains(text, "403")
	}) {
		t.Errorf("the results say %q", said)
	}
	s.told() // it is refused again, and owed once
	w.forge.Recover()
	s.paid()
	s.told()
	if said := w.said(s.pull); len(said) != 1 || !strings.Contains(said[0], "worked this in with `"+s.head()[:10]) || !strings.Contains(said[0], "In answer to") {
		t.Errorf("said is %q", said)
	}
	if len(w.heard()) != 1 {
		t.Errorf("the developer was asked %q", w.heard())
	}
	s.merges()
}

func TestAConversationThatTakesNoReplyHoldsNoFix(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	id := w.ann.onLine(s.pull, s.head(), "US-1.txt", "Why so quiet?")
	w.failRequests("POST", path("/pulls/%d/comments", s.pull), localforge.Fault{Status: http.StatusNotFound})
	if in := s.told(); in.GetVars()["owed"] == "" || len(w.said(s.pull)) != 1 || len(w.lines(s.pull)) != 1 {
		t.Errorf("it owes %q, said is %q, in the conversation %+v", in.GetVars()["owed"], w.said(s.pull), w.lines(s.pull))
	}
	w.forge.Recover()
	s.paid()
	lines := w.lines(s.pull)
	if len(w.said(s.pull)) != 1 || len(lines) != 2 || lines[1].ReplyTo != id {
		t.Errorf("said is %q, in the conversation %+v", w.said(s.pull), lines)
	}
	s.merges()
}

func TestAConversationThatWeMayNotResolveStaysOpenForAPerson(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	w.ann.onLine(s.pull, s.head(), "US-1.txt", "Why so quiet?")
	w.forge.Fail(func(r *http.Request) *localforge.Fault {
		if strings.HasSuffix(r.URL.Path, "/graphql") && len(w.lines(s.pull)) == 2 {
			return &localforge.Fault{Status: http.StatusForbidden}
		}
		return nil
	})
	in := s.told()
	if len(w.lines(s.pull)) != 2 || in.GetPaused() {
		t.Errorf("in the conversation are %+v; it is paused: %v", w.lines(s.pull), in.GetPaused())
	}
}

func TestAPullRequestThatTakesNoCommentIsToldLaterThatThereIsNoCI(t *testing.T) {
	w := newEnvAt(t, func() time.Time { return time.Now().Add(-10 * time.Minute) })
	w.failRequests("POST", "/comments", localforge.Fault{Status: http.StatusForbidden})
	s := w.begin("US-1", 0).proposed()
	s.told()
	if s.draft() || len(w.said(s.pull)) != 0 {
		t.Errorf("it is still a draft: %v; said is %q", s.draft(), w.said(s.pull))
	}
	w.forge.Recover()
	s.told()
	s.told()
	said := slices.DeleteFunc(w.said(s.pull), func(body string) bool { return !strings.Contains(body, "allow_no_checks: true") })
	if len(said) != 1 {
		t.Errorf("it is told %d times: %q", len(said), w.said(s.pull))
	}
}

func TestARevertIsLeftToPeopleThoughTheIssueTakesNoComment(t *testing.T) {
	w := newEnvWith(t, nil, []string{"revert: true"})
	watch, commit := w.readyToMerge().watched()
	w.ann.pushes("trunk", "US-1.txt", "built upon\n")
	w.failRequests("POST", "/comments", localforge.Fault{Status: http.StatusForbidden})
	w.bob.fails(commit, "build")
	watch.tell()
	in := watch.reaches("reported")
	last := in.GetLastResult()
	if !strings.Contains(last.GetData()["untold"], "403") || !strings.Contains(last.GetSummary(), "is not reverted. A revert conflicts") {
		t.Errorf("the result is %v", last)
	}
}
