package app

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// reportText reports an issue with a text, by somebody who may write.
func (e *env) reportText(body string) int {
	e.Helper()
	made, err := e.ann.CreateIssue(e.ctx, widgets, forge.NewIssue{Title: "The sum is wrong", Body: body})
	if err != nil {
		e.Fatal(err)
	}
	e.second.Add(1)
	return made.Number
}

// waitsFor checks the reason of the pause of an issue's instance; "" if it is not paused.
func (e *env) waitsFor(issue int, want string) {
	e.Helper()
	in, err := e.client.Get(e.ctx, Name(widgets, issue))
	if err != nil {
		e.Fatal(err)
	}
	got := ""
	if in.GetPaused() {
		got = in.GetReason()
	}
	if got != want {
		e.Errorf("issue %d is paused for %q, want %q", issue, got, want)
	}
}

func (e *env) follow(p *poller) {
	e.Helper()
	if err := (&waits{poller: p}).poll(e.ctx); err != nil {
		e.Fatal(err)
	}
}

func TestWorkWaitsUntilTheIssuesThatBlockItAreClosed(t *testing.T) {
	w := newEnv(t)
	p := w.poller()
	first, second := w.reportText("It is broken."), w.reportText("It is broken, too.")
	third := w.reportText("Blocked by #1 and #2.")
	w.poll(p)
	w.waitsFor(first, "")
	w.waitsFor(third, "it waits for #1, #2")
	w.close(first)
	w.follow(p)
	w.waitsFor(third, "it waits for #1, #2")
	w.close(second)
	p = w.poller() // another gateway goes on
	w.follow(p)
	w.waitsFor(third, "")
	w.poll(p)
	w.waitsFor(third, "")
}

func TestAnEditThatNamesABlockerHoldsWorkThatIsUnderWay(t *testing.T) {
	w := newEnv(t)
	p := w.poller()
	w.reportText("It is broken.")
	other := w.reportText("It is broken, too.")
	w.poll(p)
	w.waitsFor(other, "")
	edit := func(body string) {
		t.Helper()
		w.edits(other, body)
		w.second.Add(1)
		w.poll(p)
	}
	edit("It depends on #1.")
	w.waitsFor(other, "it waits for #1")
	edit("It depends on nothing.")
	w.waitsFor(other, "")
}

func TestWorkThatAPersonResumesDoesNotWaitForTheSameIssueAgain(t *testing.T) {
	w := newEnv(t)
	p := w.poller()
	w.reportText("It is broken.")
	other := w.reportText("Blocked by #1.")
	w.poll(p)
	w.waitsFor(other, "it waits for #1")
	if _, err := w.client.Resume(w.ctx, Name(widgets, other), "it can be done before"); err != nil {
		t.Fatal(err)
	}
	w.say(w.ann, other, "Go on.")
	w.second.Add(1)
	for range 2 {
		w.poll(p)
		w.follow(p)
		w.waitsFor(other, "")
		p = w.poller() // another gateway goes on
	}
}

func TestWhatAPersonPausedStaysSoWhenABlockerIsClosed(t *testing.T) {
	w := newEnv(t)
	p := w.poller()
	blocker, other := w.reportText("It is broken."), w.reportText("It is broken, too.")
	w.poll(p)
	if _, err := w.client.Pause(w.ctx, Name(widgets, other), "I look at it"); err != nil {
		t.Fatal(err)
	}
	w.edits(other, "Blocked by #1.")
	w.second.Add(1)
	w.poll(p)
	w.close(blocker)
	w.follow(p)
	w.waitsFor(other, "I look at it")
}

func TestNamesThatCanNeverBeClosedHoldNothingAndAreTold(t *testing.T) {
	w := newEnv(t)
	var told []string
	p := w.poller(func(p *poller) {
		p.say = func(_ context.Context, r forgeside.CommentRequest) error {
			told = append(told, r.Body)
			return nil
		}
	})
	itself := w.reportText("Blocked by #1.")
	missing := w.reportText("Blocked by #99 and x/y#3.")
	one, two, three := w.reportText("Depends on #4."), w.reportText("Depends on #5."), w.reportText("Depends on #3.")
	for range 2 {
		w.poll(p)
		w.second.Add(1)
		w.say(w.ann, itself, "Look again.")
	}
	for _, issue := range []int{itself, missing, one, two, three} {
		w.waitsFor(issue, "")
	}
	for _, want := range []string{"#1: it is this issue itself", "#99: this repository has no such issue", "x/y#3: it is of another repository",
		"#4: it waits for this issue, too", "#5: it waits for this issue, too", "#3: it waits for this issue, too"} {
		named := func(body string) bool { return strings.Contains(strings.ReplaceAll(body, "\\", ""), want) }
		if i := slices.IndexFunc(told, named); i < 0 || slices.ContainsFunc(told[i+1:], named) {
			t.Errorf("people were not told once of %q: %q", want, told)
		}
	}
}

// related is a forge that has an issue down as blocked by others.
type related struct {
	forge.Reader
	forge.Editing
	forge.Renaming
	issue int
	by    *[]forge.Issue
}

func (r related) Issues(ctx context.Context, repo string, since time.Time) ([]forge.Issue, error) {
	all, err := r.Reader.Issues(ctx, repo, since)
	for i := range all {
		if all[i].Number == r.issue {
			all[i].Blocked = len(*r.by)
		}
	}
	return all, err
}

func (r related) BlockedBy(context.Context, string, int) ([]forge.Issue, error) { return *r.by, nil }

func TestWorkWaitsForTheIssuesThatTheForgeHasDownAsBlockingIt(t *testing.T) {
	w := newEnv(t)
	issue := w.reportText("It is broken.")
	by := []forge.Issue{{Repo: widgets, Number: 7, State: "open"}, {Repo: "x/secret", Number: 3, State: "open"},
		{Repo: widgets, Number: 8, State: "closed"}}
	p := w.poller(func(p *poller) {
		c := w.forge.Client("signalbox")
		p.reader = related{c, c, c, issue, &by}
	})
	w.poll(p)
	w.waitsFor(issue, instance.ForIssues+"#7, an issue of another repository")
	by = nil
	w.follow(p)
	w.waitsFor(issue, "")
}
