package instance_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/question"
)

// asking has a PM ask which indentation is right, by default tabs after a day, and how many columns a tab has.
func asking(state string) []step {
	return []step{opened(), claim("p1"),
		do(instance.Ask{Token: 1, Text: "Which?", Form: question.Wanted{Within: 24 * time.Hour,
			Form: question.Form{Kind: question.Choice, Options: []string{"tabs", "spaces"}, Default: "a", Reason: "both occur"}}}),
		do(instance.Ask{Token: 1, Text: "How many columns?", Form: question.Wanted{Form: question.Form{Kind: question.Number}}}),
		moveTo(state)}
}

func goes(t *testing.T, g *fixture, next step) {
	t.Helper()
	if err := next(g); err != nil {
		t.Fatal(err)
	}
}

func TestAnswersAreReadInTheirFormAndTheLastMovesTheInstance(t *testing.T) {
	const waits = "waiting_for_requirements_clarification"
	g := given(t, issue(t), asking(waits)...)
	if q := g.in.Questions[0]; q.Default != "tabs" || q.Reason != "both occur" || !q.Deadline.Equal(q.AskedAt.Add(24*time.Hour)) {
		t.Fatalf("asked is %+v", q)
	}
	goes(t, g, do(instance.Answer{Number: 1, Text: "B, please"}))
	if q := g.in.Questions[0]; q.Answer != "spaces" || g.in.State != waits {
		t.Errorf("in %s the answer is %+v", g.in.State, q)
	}
	goes(t, g, do(instance.Answer{Number: 1, Text: "a", More: []instance.QuestionAnswer{{Question: 2, Text: "8 columns"}}}))
	if got := []string{g.in.Questions[0].Answer, g.in.Questions[1].Answer, g.in.State}; !cmp.Equal(got, []string{"tabs", "8", "requirements_clarified"}) {
		t.Errorf("it is %q", got)
	}
	goes(t, g, do(instance.Answer{Number: 2, Text: "4"})) // nobody works with it yet
	if q := g.in.Questions[1]; q.Answer != "4" || q.Used {
		t.Errorf("the answer is %+v", q)
	}
	goes(t, g, claim("p1"))
	err := do(instance.Answer{Number: 2, Text: "2"})(g)
	if no := new(instance.Refusal); !errors.As(err, &no) || no.Code != instance.CodeInvalid {
		t.Errorf("a change of an answer in use is refused with %v", err)
	}
}

func TestTheDefaultIsTakenAtTheDeadlineAndDecidedSoAgain(t *testing.T) {
	g := given(t, issue(t), asking("waiting_for_requirements_clarification")...)
	goes(t, g, do(instance.Answer{Number: 2, Text: "8"}))
	due, ok := g.in.DefaultDue()
	if !ok {
		t.Fatal("no default is due")
	}
	before := g.in
	cmd := instance.Command{ID: "default", Instance: g.in.ID, At: due, Actor: "orchestrator", Do: instance.TakeDefaults{}}
	events, err := instance.Decide(g.def, before, cmd)
	if err != nil {
		t.Fatal(err)
	}
	c := instance.Commit{Seq: before.Seq + 1, ID: cmd.ID, At: due, Actor: cmd.Actor, Events: events}
	in := instance.Evolve(before, c)
	if q := in.Questions[0]; q.Answer != "tabs" || !q.ByDefault || in.State != "requirements_clarified" || in.Reason != "nobody answered in time; the default counts" {
		t.Errorf("in %s, %q, the answer is %+v", in.State, in.Reason, q)
	}
	again, err := new(instance.Decider).Redecide(g.def, before, c)
	if diff := cmp.Diff(events, again); err != nil || diff != "" {
		t.Errorf("decided again (-first +again), %v:\n%s", err, diff)
	}
	if at, ok := in.DefaultDue(); ok {
		t.Errorf("another default is due at %s", at)
	}
}

func TestWordsInAResultThatAreNoAnswerLeaveTheQuestionOpen(t *testing.T) {
	g := given(t, issue(t), asking("requirements_clarified")...)
	goes(t, g, claim("p1"))
	goes(t, g, report(instance.Result{Status: instance.Success, Answers: []instance.QuestionAnswer{{Question: 1, Text: "z"}, {Question: 2, Text: "8"}}}))
	if open := g.in.OpenQuestions(); len(open) != 1 || open[0].Number != 1 {
		t.Errorf("open is %+v", open)
	}
}
