package role_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// wonders leaves the files and asks, though it says that it is done.
func wonders(files map[string]string, questions ...string) thinks {
	return func(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
		out, err := writes(files)(ctx, a)
		out.Result.Questions = questions
		return out, err
	}
}

func TestQuestionsBesideASuccessAreWaitedForAndTheChangeIsKept(t *testing.T) {
	e := newEnv(t, map[string]string{})
	_, err := e.do(e.job("developer", "implementing"), wonders(map[string]string{"fix": "x"}, "Which sum?", "Since when?"))
	var people *agent.ErrEscalate
	if !errors.As(err, &people) || !people.RequiresHuman || people.Head == "" || people.Bundle == "" ||
		people.Reason != "developer asks before it goes on: Which sum?\nSince when?" {
		t.Fatalf("it ended with %+v, %v", people, err)
	}
	job := e.job("developer", "implementing", instance.Result{Head: people.Head, Bundle: people.Bundle})
	job.Escalations = []instance.Escalation{{Reason: people.Reason, RequiresHuman: true, Resolved: true, Resolution: "this one"}}
	var notes []string
	job.Note = func(_ context.Context, kind, text string) error {
		notes = append(notes, kind+": "+text)
		return nil
	}
	r, err := e.do(job, wonders(map[string]string{"more": "y"}, "Which sum?", "Since when?"))
	if err != nil || r.Status != instance.Success || len(r.Questions) != 0 || e.content("fix", instance.Result{Head: people.Head, Bundle: people.Bundle}, r) != "x" {
		t.Errorf("asked the same again it ended with %+v, %v", r, err)
	}
	if !slices.Equal(notes, []string{"question: Which sum?", "question: Since when?"}) {
		t.Errorf("noted %q", notes)
	}
}

func TestAnAnalysisWithQuestionsIsNotDone(t *testing.T) {
	e := newEnv(t, map[string]string{})
	job := e.job("analyst", "analyzing_requirements")
	job.Policy = map[string]any{"confidence_threshold": 0.85}
	r, err := e.do(job, wonders(nil, "Which sum?"))
	if err != nil || r.Status != instance.Blocked || !slices.Equal(r.Questions, []string{"Which sum?"}) || len(r.IssuesFound) != 1 {
		t.Errorf("it ended with %+v, %v", r, err)
	}
}

func TestWhoJudgesIsNotWaitedFor(t *testing.T) {
	e := newEnv(t, map[string]string{config: byFile, "check.sh": pass})
	job := e.job("tester", "running_tests")
	var notes []string
	job.Note = func(_ context.Context, kind, text string) error {
		notes = append(notes, kind+": "+text)
		return nil
	}
	r, err := e.do(job, wonders(nil, "Which sum?"))
	if err != nil || r.Status != instance.Success || len(r.Questions) != 0 || strings.Join(notes, "") != "question: Which sum?" {
		t.Errorf("it ended with %+v, %v; noted %q", r, err, notes)
	}
}

func TestATesterWhoIsAskedMayChangeAKeptTest(t *testing.T) {
	e := newEnv(t, map[string]string{config: byFile, "check.sh": pass})
	tests := e.done("tester", "creating_tests", writes(map[string]string{"sum_test.sh": "wants 5"}))
	job := e.job("developer", "implementing", tests)
	_, err := e.do(job, thinks(func(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
		out, err := writes(map[string]string{"sum": "4"})(ctx, a)
		out.Asks = []instance.Inquiry{{To: "tester", Question: "sum_test.sh wants 5, but 2+2 is 4: is the test wrong?"}}
		return out, err
	}))
	var asks *agent.ErrAsk
	if !errors.As(err, &asks) || asks.Bundle == "" {
		t.Fatalf("it ended with %v", err)
	}
	change := instance.Result{Head: asks.Head, Bundle: asks.Bundle}
	asked := e.job("tester", "implementing", tests, change)
	asked.Question = &instance.Question{Number: 1, From: "developer", To: "tester", Text: asks.Questions[0].Question}
	r, err := e.do(asked, writes(map[string]string{"sum_test.sh": "wants 4"}))
	if err != nil || r.Status != instance.Success || e.content("sum_test.sh", tests, change, r) != "wants 4" {
		t.Errorf("the tester ended with %+v, %v", r, err)
	}
}
