package role_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/model"
	"github.com/signalbox/signalbox/pkg/agent/brain/model/modeltest"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
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
	job.Shares = func(context.Context) ([]work.Share, error) {
		return []work.Share{{Role: "analyst", Brain: "exec:x", Cost: instance.Cost{WallMS: 90_000}}}, nil
	}
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
	if !strings.HasPrefix(more.Reason, instance.BudgetSpent+"2340 of 2000 tokens. It was spent on: developer under $0.01, 2340 tokens") ||
		!strings.Contains(more.Reason, "; analyst with exec:x tokens and dollars unknown, 1m30s. `signalbox budget") ||
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

func TestAModelStopsAtTheNextTurnOnceTheDaysBudgetIsSpentAndItsWorkIsKept(t *testing.T) {
	e := newEnv(t, map[string]string{})
	b, s := scripted(t, writing("a.txt", "a\n"), writing("b.txt", "b\n"), finishing())
	job := e.job("developer", "implementing")
	affordable, spend := context.WithCancelCause(t.Context())
	job.Affordable = affordable
	job.Spend = func(context.Context, instance.Cost) error {
		if len(s.Requests()) == 2 {
			spend(&brain.SpentError{Why: "the day's is spent"})
		}
		return nil
	}
	r, err := e.do(job, b)
	back := new(agent.ErrGiveBack)
	if !errors.As(err, &back) || len(s.Requests()) != 2 || back.Reason != "the day's is spent" || len(r.Artifacts) != 2 {
		t.Fatalf("%d requests, %+v, %v", len(s.Requests()), r, err)
	}
	kept := instance.Result{Head: back.Head, Bundle: back.Bundle}
	if e.content("a.txt", kept) != "a" || e.content("b.txt", kept) != "b" {
		t.Errorf("kept is %+v", kept)
	}
	if log := string(e.objects.all[r.Artifacts[1].Object]); !strings.Contains(log, "> write") {
		t.Errorf("the transcript is\n%s", log)
	}
	if _, err := e.do(job, b); !errors.As(err, &back) || len(s.Requests()) != 2 {
		t.Errorf("the next step begins: %d requests, %v", len(s.Requests()), err)
	}
}

func TestAProgramIsEndedOnceTheDaysBudgetIsSpentAndItsWorkIsKept(t *testing.T) {
	e := newEnv(t, map[string]string{})
	begun := filepath.Join(t.TempDir(), "begun")
	if err := syscall.Mkfifo(begun, 0o600); err != nil {
		t.Fatal(err)
	}
	affordable, spend := context.WithCancelCause(t.Context())
	go func() {
		_, err := os.ReadFile(begun) // it waits for the program
		if err == nil {
			err = &brain.SpentError{Why: "the day's is spent"}
		}
		spend(err)
	}()
	brains, err := role.Specs{"developer": "exec:echo half > a.txt; echo said; echo > " + begun + "; sleep 1000"}.Build("developer", role.Tools{})
	if err != nil {
		t.Fatal(err)
	}
	job := e.job("developer", "implementing")
	job.Affordable = affordable
	r, err := e.do(job, brains.Default)
	back := new(agent.ErrGiveBack)
	if !errors.As(err, &back) || back.Reason != "the day's is spent" || r.Spend.WallMS == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if kept := (instance.Result{Head: back.Head, Bundle: back.Bundle}); e.content("a.txt", kept) != "half" {
		t.Errorf("kept is %+v", kept)
	}
	if log := string(e.objects.all[r.Artifacts[len(r.Artifacts)-1].Object]); !strings.Contains(log, "said") {
		t.Errorf("its output is\n%s", log)
	}
}

func TestTheModelsOfARoleAreGivenItsServersByAFile(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "key")
	path := filepath.Join(t.TempDir(), "servers.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tools := role.Tools{ServersFile: path}
	specs := role.Specs{"developer": "model:anthropic/m", "tester": "model:anthropic/m"}
	write("servers:\n  docs: {url: \"https://docs.example.com/mcp\", headers: {X-Key: {env: NO_SUCH_KEY}}, roles: [tester]}\n")
	if _, err := specs.Build("developer", tools); err != nil {
		t.Errorf("one that is another's: %v", err)
	}
	if _, err := specs.Build("tester", tools); err == nil ||
		!strings.Contains(err.Error(), "--mcp-servers: "+path+":2: server docs: header X-Key: NO_SUCH_KEY is not set") {
		t.Errorf("without its key: %v", err)
	}
	settings := role.Settings{Servers: path}
	write("servers:\n  docs: {command: [docs], roles: [pm]}\n")
	if err := settings.CheckBrains([]string{"developer", "pm"}, nil); err == nil || !strings.Contains(err.Error(), `there is no role "pm" here`) {
		t.Errorf("for the PM: %v", err)
	}
	write("servers:\n  docs: {command: [docs], tool: [x]}\n")
	if err := settings.CheckBrains([]string{"developer"}, nil); err == nil || !strings.Contains(err.Error(), `:2: unknown key "tool"; did you mean "tools"?`) {
		t.Errorf("another key: %v", err)
	}
}

func TestACodingAgentThatCannotBeGivenServersIsRefusedForARoleThatHasSome(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"aider", "claude"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	path := filepath.Join(bin, "servers.yaml")
	if err := os.WriteFile(path, []byte("servers:\n  docs: {command: [docs], roles: [developer]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for spec, want := range map[string]string{"exec:aider": "aider cannot be given MCP servers, and its role has docs", "exec:claude": "", "exec:true": ""} {
		_, err := role.Specs{"developer": spec}.Build("developer", role.Tools{ServersFile: path})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
	if _, err := (role.Specs{"tester": "exec:aider"}).Build("tester", role.Tools{ServersFile: path}); err != nil {
		t.Errorf("for a role that has none: %v", err)
	}
}
