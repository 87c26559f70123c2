package app

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/localforge"
)

func TestANewIssueBringsTheCodeItIsAbout(t *testing.T) {
	w := newEnv(t)
	first := w.done(w.job("received"))
	w.restart()
	again := w.done(w.job("received"))
	if first.Status != instance.Success || len(first.Base) != 40 || len(w.store[first.Bundle]) == 0 || first.Data["branch"] != "trunk" {
		t.Errorf("it ended with %+v", first)
	}
	if again.Base != first.Base || again.Bundle != first.Bundle {
		t.Errorf("the second time it ended with %+v", again)
	}
}

func TestARepositoryWithNothingInItIsAFailure(t *testing.T) {
	w := newEnv(t)
	if err := w.forge.CreateRepo(t.Context(), "acme/empty", ""); err != nil {
		t.Fatal(err)
	}
	for _, repo := range []string{"acme/empty", "acme/nothing"} {
		job := w.job("received")
		job.Issue.Repo = repo
		if _, err := w.Work(t.Context(), job); err == nil || errors.Is(err, brain.ErrInfrastructure) {
			t.Errorf("%s ended with %v", repo, err)
		}
	}
}

// asking is work in requirements_unclear.
func (e *env) asking() (r instance.Result, err error) {
	job := e.job("requirements_unclear")
	job.Questions = []instance.Question{
		{Number: 1, From: "analyst", Text: "Which version?", Answered: true, Answer: "1.2"},
		{Number: 2, From: "analyst", Text: "What did you expect?"}, {Number: 3, From: "analyst", Text: "On what system?"},
	}
	return e.Work(e.Context(), job)
}

func TestQuestionsAreAskedOnceThoughTheWorkIsDoneTwice(t *testing.T) {
	for name, f := range map[string]*localforge.Fault{"when it was all done": nil, "when the answer got lost": {After: true},
		"when it was not done at all": {}} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			if f != nil {
				w.forge.FailRequests("POST", "/comments", *f)
				if _, err := w.asking(); !errors.Is(err, brain.ErrInfrastructure) {
					t.Fatalf("it ended with %v", err)
				}
				w.forge.Recover()
			}
			for range 2 {
				w.restart()
				r, err := w.asking()
				if err != nil || r.Status != instance.Success || r.Data["comment_url"] == "" {
					t.Errorf("it ended with %+v, %v", r, err)
				}
			}
			said := w.said()
			if len(said) != 1 || strings.Contains(said[0].Body, "Which version?") || !strings.Contains(said[0].Body, "What did you expect?") ||
				!strings.Contains(said[0].Body, "On what system?") {
				t.Errorf("said is %+v", said)
			}
		})
	}
}

func TestWhatIsNotUnderstoodIsAskedOnceInTheSameComment(t *testing.T) {
	w := newEnv(t)
	asking := func(attempt int, questions ...instance.Question) instance.Result {
		job := w.job("requirements_unclear")
		job.Attempt, job.Questions = attempt, questions
		job.Notes = []instance.NoteEntry{{Author: "bob", Kind: "commented", Text: "It is about the shop of last year.", At: time.Unix(9, 0)}}
		w.done(job)
		w.restart()
		return w.done(job)
	}
	first, second := instance.Question{Number: 1, Text: "What did you expect?"}, instance.Question{Number: 2, Text: "On what system?"}
	at := asking(1, first, second).Data["comment_url"]
	asked := w.said()[0].Body
	first.Answered, first.Answer = true, "4"
	for attempt := 2; attempt <= 4; attempt++ {
		r := asking(attempt, first, second)
		said := w.said()
		if len(said) != 1 || r.Data["comment_url"] != at || said[0].Body == asked || strings.Contains(said[0].Body, "What did you expect?") ||
			!strings.Contains(said[0].Body, "I found no answer to Q2") {
			t.Fatalf("said is %+v; it ended with %+v", said, r)
		}
		if before := r.Data["asked"] == "before"; attempt > 2 && !before {
			t.Errorf("attempt %d: the same questions count as asked again", attempt)
		}
	}
	t.Run("and a new question in a new one", func(t *testing.T) {
		asking(5, first, second, instance.Question{Number: 3, Text: "Since when?"})
		if said := w.said(); len(said) != 2 || !strings.Contains(said[1].Body, "Since when?") {
			t.Errorf("said is %+v", said)
		}
	})
}

func TestOnlyRoundsInWhichPeopleAreAskedAreCounted(t *testing.T) {
	w := newEnv(t)
	question, rounds := instance.Question{Number: 1, Text: "What did you expect?"}, ""
	for attempt := 1; attempt <= 12; attempt++ {
		job := w.job("requirements_unclear")
		job.Attempt, job.Questions, job.Vars = attempt, []instance.Question{question}, map[string]string{"rounds": rounds}
		job.Notes = []instance.NoteEntry{{Author: "bob", Kind: "commented", Text: "It is about the shop of the year N.", At: time.Unix(9, 0)}}
		if r := w.done(job); r.Data["rounds"] != "" {
			rounds = r.Data["rounds"]
		}
	}
	if len(w.said()) != 1 || rounds != "1" {
		t.Errorf("people were asked %d times; counted are %s rounds", len(w.said()), rounds)
	}
}

func TestAMarkerThatSomebodyElseCopiedIsNotOurs(t *testing.T) {
	w := newEnv(t)
	if _, err := w.asking(); err != nil {
		t.Fatal(err)
	}
	ours := w.said()[0].Body
	w = newSecondEnv(t)
	w.say(w.bob, ours)
	w.say(w.ann, "as bob says\n\n"+ours)
	r, err := w.asking()
	said := w.said()
	if err != nil || len(said) != 3 || said[2].Author.Login != "signalbox" || r.Data["comment_url"] != said[2].URL {
		t.Errorf("it ended with %+v, %v; said is %+v", r, err, said)
	}
}

func TestOnlyTheWordsOfThoseWhoMayAnswerCount(t *testing.T) {
	w := newEnv(t)
	for author, counts := range map[string]bool{
		"bob": true, "ann": true, "operator:zoe": true,
		"eve": false, "operator-eve": false, "operator": false, "nobody": false, "": false, "developer/agent-7": false,
	} {
		job := w.job("requirements_clarified")
		job.Questions = []instance.Question{{Number: 1, Text: "What did you expect?", AskedAt: time.Unix(1, 0)}}
		job.Notes = []instance.NoteEntry{{Author: author, Kind: "commented", Text: "Four.", At: time.Unix(2, 0)}}
		r, err := w.Work(t.Context(), job)
		if err != nil || (len(r.Answers) == 1) != counts {
			t.Errorf("the words of %q made %+v, %v", author, r.Answers, err)
		}
	}
}

func TestOnNoForgeEverybodysWordsCount(t *testing.T) {
	w := newEnv(t)
	job := w.job("requirements_clarified")
	job.Issue = instance.Issue{Title: "The sum is wrong"}
	job.Questions = []instance.Question{{Number: 1, Text: "What did you expect?"}}
	job.Notes = []instance.NoteEntry{{Author: "eve", Kind: "commented", Text: "Four.", At: time.Unix(2, 0)}}
	if r := w.done(job); len(r.Answers) != 1 {
		t.Errorf("it ended with %+v", r)
	}
	asking := job
	asking.State, asking.Work = "requirements_unclear", workOf(t, "requirements_unclear")
	if r := w.done(asking); r.Status != instance.Success || len(w.said()) != 0 {
		t.Errorf("it ended with %+v; said is %+v", r, w.said())
	}
}

func TestPeopleAreToldOnceWhatIsInTheWay(t *testing.T) {
	w := newEnv(t)
	job := w.job("blocked")
	job.Last = &instance.Result{Status: instance.Blocked, Summary: "There is no compiler.", IssuesFound: []string{"cc: not found"}}
	for range 2 {
		w.restart()
		w.done(job)
	}
	if said := w.said(); len(said) != 1 || !strings.Contains(said[0].Body, "There is no compiler") ||
		!strings.Contains(said[0].Body, "cc: not found") {
		t.Errorf("said is %+v", said)
	}
}

func TestAForgeThatIsAwayIsNotTheWorksFault(t *testing.T) {
	for name, f := range map[string]localforge.Fault{"no answer": {}, "a server error": {Status: 502}, "a token that ran out": {Status: 401}} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			solved := w.solved()
			clarified := w.job("requirements_clarified")
			clarified.Questions = []instance.Question{{Number: 1, Text: "What did you expect?"}}
			clarified.Notes = []instance.NoteEntry{{Author: "eve", Kind: "commented", Text: "Four.", At: time.Unix(2, 0)}}
			unclear := w.job("requirements_unclear")
			unclear.Questions = clarified.Questions
			w.restart()
			w.forge.FailRequests("", "", f)
			for _, job := range []struct {
				state string
				run   func() error
			}{
				{"received", func() error { _, err := w.Work(t.Context(), w.job("received")); return err }},
				{"requirements_unclear", func() error { _, err := w.Work(t.Context(), unclear); return err }},
				{"requirements_clarified", func() error { _, err := w.Work(t.Context(), clarified); return err }},
				{"creating_pr", func() error { _, err := w.Work(t.Context(), solved); return err }},
			} {
				if err := job.run(); !errors.Is(err, brain.ErrInfrastructure) {
					t.Errorf("%s ended with %v", job.state, err)
				}
			}
		})
	}
}

// limited is a forge that has had enough until a time.
type limited struct {
	reader
	until time.Time
}

func (l limited) Self(context.Context) (string, error) {
	return "", &forge.RateLimit{Until: l.until, Message: "enough"}
}

func TestALimitGivesTheWorkBackUntilItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := &env{T: t, issue: instance.Issue{Repo: widgets, Number: 1}}
		w.handler = &handler{reader: limited{until: start.Add(time.Hour)}, gate: forgeside.Gate{Repos: forgeside.Repositories{widgets}},
			log: slog.New(slog.DiscardHandler)}
		_, err := w.asking()
		later := new(brain.LaterError)
		if !errors.As(err, &later) || !later.Until.Equal(start.Add(time.Hour)) || !errors.Is(err, brain.ErrInfrastructure) || time.Since(start) != 0 {
			t.Errorf("it ended with %v after %s", err, time.Since(start))
		}
	})
}

func TestWhatTheRulesDoNotKnowIsNotDone(t *testing.T) {
	w := newEnv(t)
	if _, err := w.Work(t.Context(), w.job("merging")); !errors.Is(err, rules.ErrEffect) {
		t.Errorf("it ended with %v", err)
	}
}

func TestABranchIsNamedForItsIssue(t *testing.T) {
	for title, want := range map[string]string{
		"The sum is wrong":              "signalbox/issue-7-the-sum-is-wrong",
		"  [Bug]: --json; rm -rf $HOME": "signalbox/issue-7-bug-json-rm-rf-home",
		"合計が違う":                         "signalbox/issue-7",
		strings.Repeat("word ", 30):     "signalbox/issue-7-word-word-word-word-word-word-word-word",
		strings.Repeat("x", 300):        "signalbox/issue-7",
	} {
		if got := Branch(instance.Issue{Number: 7, Title: title}); got != want {
			t.Errorf("%q makes %s, want %s", title, got, want)
		}
	}
}

func TestDataIsAddedToAndNotWrittenInto(t *testing.T) {
	was := instance.Result{Data: map[string]string{"kept": "1"}}
	now := forgeside.WithData(was, "b", "2", "c", "3")
	if len(was.Data) != 1 || len(now.Data) != 3 || !slices.Equal([]string{now.Data["kept"], now.Data["b"], now.Data["c"]},
		[]string{"1", "2", "3"}) {
		t.Errorf("%v became %v", was.Data, now.Data)
	}
}
