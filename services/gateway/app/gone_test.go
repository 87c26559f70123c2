package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
)

// without is a forge that has an issue no more.
type without struct {
	*github.Client
	number int
	err    error // of lists
}

func (w without) Issue(ctx context.Context, repo string, number int) (forge.Issue, error) {
	if number == w.number {
		return forge.Issue{}, forge.ErrNotFound
	}
	return w.Client.Issue(ctx, repo, number)
}

func (w without) Issues(ctx context.Context, repo string, since time.Time) ([]forge.Issue, error) {
	all, err := w.Client.Issues(ctx, repo, since)
	return slices.DeleteFunc(all, func(i forge.Issue) bool { return i.Number == w.number }), errors.Join(err, w.err)
}

func TestTheWorkOnAnIssueThatIsGoneIsCancelledWithinADay(t *testing.T) {
	e := newEnv(t)
	stays, goes := e.report(e.ann, "The sum is wrong"), e.report(e.ann, "So is mine")
	e.poll(e.poller())
	c, now := e.closings(), e.now()
	on := without{e.forge.Client("signalbox"), 0, nil}
	c.now = func() time.Time { return now }
	polls := func() error { c.forge = on; return c.poll(e.ctx) }
	want := func(what, of string) {
		t.Helper()
		if how, _ := e.closed(stays); how != "" {
			t.Errorf("%s: what is there is %q", what, how)
		}
		if how, _ := e.closed(goes); how != of {
			t.Errorf("%s: what is gone is %q, want %q", what, how, of)
		}
	}
	if err := polls(); err != nil {
		t.Fatal(err)
	}
	on.number = goes
	now = now.Add(soughtEvery - time.Second)
	if err := polls(); err != nil {
		t.Fatal(err)
	}
	want("within a day", "")
	now, on.err = now.Add(time.Second), forge.ErrDenied
	if err := polls(); !errors.Is(err, forge.ErrDenied) {
		t.Errorf("a repository that cannot be read: %v", err)
	}
	want("where the repository cannot be read", "")
	on.err = nil
	if err := polls(); err != nil {
		t.Fatal(err)
	}
	want("a day later", "cancelled")
	if _, why := e.closed(goes); !strings.Contains(why, "deleted or transferred") {
		t.Errorf("it says %q", why)
	}
}

func TestAnIssueThatIsOnlyHiddenKeepsItsWork(t *testing.T) {
	s := newScene(t)
	s.issue = s.report(s.ann, "The sum is wrong")
	s.polls()
	s.missing.Store(int64(s.issue))
	s.deliver("issues", "hidden", issueEvent("labeled", s.issue))
	s.settle()
	if got := s.instance(); got != "paused false" {
		t.Errorf("what cannot be read is %s", got)
	}
	s.missing.Store(0)
	s.deliver("issues", "back", issueEvent("deleted", s.issue)) // of long ago: it was restored
	s.settle()
	if got := s.instance(); got != "paused false" {
		t.Errorf("what is there is %s", got)
	}
}

func TestWhatWasPausedForAnotherReasonStaysPausedWhenItsIssueIsUnlocked(t *testing.T) {
	s := newScene(t)
	s.issue = s.report(s.ann, "The sum is wrong")
	s.polls()
	for _, why := range []string{"I want to look at it", fmt.Sprintf("comment on %s#%d1: issue is locked", widgets, s.issue),
		fmt.Sprintf("comment on %s#%d: 500", widgets, s.issue)} {
		if _, err := s.client.Pause(s.ctx, Name(widgets, s.issue), why); err != nil {
			t.Fatal(err)
		}
		s.second.Add(1)
		s.request(http.MethodDelete, fmt.Sprintf("/issues/%d/lock", s.issue), "")
		s.polls()
		if got := s.instance(); got != "paused true" {
			t.Errorf("%s: it is %s", why, got)
		}
		if _, err := s.client.Resume(s.ctx, Name(widgets, s.issue), "looked"); err != nil {
			t.Fatal(err)
		}
	}
}
