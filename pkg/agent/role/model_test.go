package role_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/model"
	"github.com/signalbox/signalbox/pkg/agent/brain/model/modeltest"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/instance"
)

// scripted is a model brain with a script.
func scripted(t *testing.T, turns ...modeltest.Turn) (*model.Brain, *modeltest.Server) {
	t.Helper()
	s := modeltest.New(t, modeltest.Turns(turns...))
	b, err := model.New(model.Config{Provider: "anthropic", Name: "claude-opus-4-5", URL: s.URL, Key: "key"})
	if err != nil {
		t.Fatal(err)
	}
	return b, s
}

func writing(path, content string) modeltest.Turn {
	return modeltest.Calling("write", map[string]any{"path": path, "content": content})
}

func finishing() modeltest.Turn {
	return modeltest.Calling("finish", map[string]any{"status": "success", "summary": "add what is missing", "confidence_score": 0.9})
}

func TestWhatAModelLeavesIsCheckedBeforeItsStepEnds(t *testing.T) {
	e := newEnv(t, map[string]string{})
	key := "AKIA" + "Z7XQ5WPL2MNRT4VB"
	b, s := scripted(t, finishing(), writing("keys.txt", "aws = "+key+"\n"), finishing(), writing("keys.txt", "none\n"), finishing())
	r := e.done("developer", "implementing", b)
	said := s.Requests()[4].Results
	if !strings.Contains(said[0], "left no change") || !strings.Contains(said[2], "may not leave the work tree") {
		t.Errorf("the model is told\n%s", strings.Join(said, "\n"))
	}
	if e.content("keys.txt", r) != "none" || len(r.Artifacts) != 2 {
		t.Errorf("it leaves %q, %+v", e.content("keys.txt", r), r.Artifacts)
	}
	log := string(e.objects.all[r.Artifacts[1].Object])
	if !strings.Contains(log, "> write") || r.Spend.TokensIn != 5*1120 || r.Spend.USD == 0 {
		t.Errorf("it cost %+v and the transcript is\n%s", r.Spend, log)
	}
}

func TestEachTurnIsPaidAtOnce(t *testing.T) {
	e := newEnv(t, map[string]string{})
	b, _ := scripted(t, writing("a.txt", "a\n"), finishing())
	job := e.job("developer", "implementing")
	var charged []instance.Cost
	job.Spend = func(_ context.Context, c instance.Cost) error {
		charged = append(charged, c)
		if len(charged) == 2 {
			return errors.New("nobody takes it")
		}
		return nil
	}
	r, err := e.do(job, b)
	if err != nil || len(charged) != 2 || r.Spend.TokensIn != 1120 {
		t.Errorf("charged %+v, and with the result %+v, %v", charged, r.Spend, err)
	}
}

func TestPeopleAreToldAtOnceOfABrainThatTheyHaveToMend(t *testing.T) {
	e := newEnv(t, map[string]string{})
	b, s := scripted(t, modeltest.Status(http.StatusUnauthorized, "authentication_error", "invalid x-api-key"))
	r, err := e.work("developer", "implementing", b)
	if err != nil || !r.Unjudged || len(s.Requests()) != 1 || !strings.Contains(r.Summary, "give a valid key in ANTHROPIC_API_KEY") {
		t.Errorf("%d requests, %+v, %v", len(s.Requests()), r, err)
	}
}

func TestASilentProviderIsAFaultOfTheMachinery(t *testing.T) {
	e := newEnv(t, map[string]string{})
	b, _ := scripted(t, writing("a.txt", "a\n"), modeltest.Status(http.StatusTooManyRequests, "rate_limit_error", "later", "Retry-After",
		"10800"))
	r, err := e.work("developer", "implementing", b)
	if !errors.Is(err, brain.ErrInfrastructure) || r.Spend.TokensIn != 1120 {
		t.Errorf("%+v, %v: what was paid is not lost", r.Spend, err)
	}
}

func TestAProgramGoesOnWhereAModelCannotWork(t *testing.T) {
	e := newEnv(t, map[string]string{})
	s := modeltest.New(t, modeltest.Turns(writing("a.txt", "half\n"), modeltest.Status(http.StatusForbidden, "permission_error", "no more")))
	t.Setenv("ANTHROPIC_API_KEY", "key")
	t.Setenv("ANTHROPIC_BASE_URL", s.URL)
	brains, err := role.Specs{"developer": "model:anthropic/claude-opus-4-5,exec:cat a.txt > b.txt"}.Build("developer", role.Tools{})
	if err != nil {
		t.Fatal(err)
	}
	r := e.done("developer", "implementing", brains.Default)
	if e.content("b.txt", r) != "half" || r.Spend.TokensIn != 1120 {
		t.Errorf("it leaves %q for %+v", e.content("b.txt", r), r.Spend)
	}
}

func TestAModelStopsWhereTheBudgetIsSpentAndPeopleAreAsked(t *testing.T) {
	e := newEnv(t, map[string]string{})
	b, s := scripted(t, writing("a.txt", "a\n"), writing("b.txt", "b\n"), finishing())
	job := e.job("developer", "implementing")
	job.Policy = map[string]any{"budget_tokens": "2000", "budget_usd": "0.0"}
	var noted []string
	job.Note = func(_ context.Context, kind, text string) error {
		noted = append(noted, kind+": "+text)
		return nil
	}
	r, err := e.do(job, b)
	more := new(agent.ErrEscalate)
	if !errors.As(err, &more) || !more.RequiresHuman || len(s.Requests()) != 2 || more.Head == "" || more.Bundle == "" {
		t.Fatalf("%d requests, %+v, %v", len(s.Requests()), r, err)
	}
	if !strings.HasPrefix(more.Reason, instance.BudgetSpent+"2340 of 2000 tokens. ") ||
		!strings.Contains(more.Reason, "budget acme/widgets/42 +2000tokens") {
		t.Errorf("people are asked: %s", more.Reason)
	}

	job.Spent = instance.Cost{TokensIn: 2340}
	if _, err := e.do(job, b); !errors.As(err, &more) || len(s.Requests()) != 2 {
		t.Errorf("the next claim is no further: %d requests, %v", len(s.Requests()), err)
	}
	job.Raised = instance.Raise{Tokens: 2200}
	if r, err := e.do(job, writes(map[string]string{"a.txt": "a\n"})); err != nil || r.Status != instance.Success {
		t.Errorf("it was raised: %+v, %v", r, err)
	}
	b, _ = scripted(t, writing("a.txt", "a\n"), finishing())
	if r, err := e.do(job, b); err == nil && r.Status == instance.Success &&
		(len(noted) != 1 || !strings.Contains(noted[0], "warning: more than 80 % of the budget is spent")) {
		t.Errorf("people are told %q", noted)
	}
}
