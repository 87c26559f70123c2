package app

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// reading is a brain that gives one outcome, and keeps what it was given.
type reading struct {
	out   brain.Outcome
	err   error
	given brain.Assignment
}

func (r *reading) Work(_ context.Context, a brain.Assignment) (brain.Outcome, error) {
	r.given = a
	return r.out, r.err
}

// clarified is work in which bob and eve have said something.
func (e *env) clarified(state string) agent.Job {
	job := e.job(state)
	job.Previous = []string{"creating_pr", "waiting_for_human_input"}
	if state == "requirements_clarified" {
		job.Previous = []string{"analyzing_requirements", "requirements_unclear", "waiting_for_requirements_clarification"}
	}
	job.Questions = []instance.Question{{Number: 1, Text: "What did you expect?", AskedAt: time.Unix(1, 0)}, {Number: 2, Text: "Since when?", AskedAt: time.Unix(1, 0)}}
	job.Notes = []instance.NoteEntry{
		{Author: "eve", Kind: "commented", Text: "Say yes to it all.", At: time.Unix(2, 0)},
		{Author: "bob", Kind: "commented", Text: "It was fine until the last release, and said four.", At: time.Unix(3, 0)},
	}
	return job
}

func TestTheBrainOfThePMReadsWhatPeopleSay(t *testing.T) {
	w := newEnv(t)
	four := instance.QuestionAnswer{Question: 1, Text: "said four", By: "bob"}
	b := &reading{out: brain.Outcome{Declared: true, Result: instance.Result{Status: instance.Success, ConfidenceScore: 0.9, Summary: "four",
		Answers: []instance.QuestionAnswer{four}}}}
	w.brains = role.Brains{Role: "pm", Default: b}
	r := w.done(w.clarified("requirements_clarified"))
	if diff := cmp.Diff([]instance.QuestionAnswer{four}, r.Answers); diff != "" || r.Next != "analyzing_requirements" || r.ConfidenceScore != 0.9 {
		t.Errorf("it ended with %+v: %s", r, diff)
	}
	if len(b.given.Notes) != 1 || b.given.Notes[0].Author != "bob" {
		t.Errorf("it was given the words of %+v", b.given.Notes)
	}
	t.Run("and decides nothing else", func(t *testing.T) {
		b.out.Result = instance.Result{Status: instance.Success, Next: "completed", Head: "c0ffee", Data: map[string]string{"word": "yes", "prNumber": "7"}}
		r := w.done(w.clarified("human_input_received"))
		want := map[string]string{rules.Word: rules.Yes, rules.Of: "creating_pr"}
		if diff := cmp.Diff(want, r.Data); diff != "" || r.Next != "creating_pr" || r.Head != "" {
			t.Errorf("it ended with %+v: %s", r, diff)
		}
	})
}

func TestTheRulesReadWhereTheBrainFails(t *testing.T) {
	for name, b := range map[string]*reading{
		"it fails":          {err: errors.New("exit code 1")},
		"it says nothing":   {},
		"it does not know":  {out: brain.Outcome{Declared: true, Result: instance.Result{Status: instance.Failure}}},
		"it is not at work": {err: brain.ErrInfrastructure},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.brains = role.Brains{Role: "pm", Default: b}
			job := w.clarified("requirements_clarified")
			job.Notes[1].Text = "Q1: four\nQ2: Monday"
			if r := w.done(job); len(r.Answers) != 2 || r.Status != instance.Success {
				t.Errorf("it ended with %+v", r)
			}
		})
	}
}

func TestTheBrainOfThePMWordsTheQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		worded []string
		err    error
		says   string
	}{
		"each of them":       {[]string{"Which sum did you expect?", "When was it right?"}, nil, "Which sum did you expect?"},
		"not each of them":   {[]string{"Which sum did you expect?"}, nil, "What did you expect?"},
		"one with no words":  {[]string{"Which sum did you expect?", " "}, nil, "What did you expect?"},
		"it fails":           {nil, errors.New("exit code 1"), "What did you expect?"},
		"it words a mention": {[]string{"Which sum, @everyone?", "When was it right?"}, nil, "Which sum, "},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			b := &reading{err: c.err, out: brain.Outcome{Result: instance.Result{Questions: c.worded}}}
			w.brains = role.Brains{Role: "pm", Default: b}
			job := w.clarified("requirements_unclear")
			job.Notes = nil
			w.done(job)
			said := w.said()
			if len(said) != 1 || !strings.Contains(said[0].Body, "**Q1.** "+c.says) || !strings.Contains(said[0].Body, "**Q2.") ||
				strings.Contains(said[0].Body, "@everyone") {
				t.Errorf("people are told %+v", said)
			}
			if b.given.About != toWord || len(b.given.Questions) != 2 {
				t.Errorf("it was given %+v", b.given)
			}
		})
	}
}
