package model_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/model"
	"github.com/signalbox/signalbox/pkg/agent/brain/model/modeltest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestAModelMendsAFileByToolsAndStatesItsResult(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		e := newEnv(t, provider, modeltest.Turns(
			modeltest.Turn{Text: "I look.\nThen I mend.", Calls: []modeltest.Call{
				modeltest.Do("read", map[string]any{"path": "stats.go"}), modeltest.Do("grep", map[string]any{"pattern": `n / \d`})}},
			fix(),
			modeltest.Calling("run", map[string]any{"command": "cat stats.go; exit 3"}),
			finish()))
		out := e.done()
		if r := out.Result; r.Status != instance.Success || r.Summary != "halve by two" || r.ConfidenceScore != 0.9 || !out.Declared {
			t.Errorf("the result is %+v", r)
		}
		contains(t, e.file("stats.go"), "n / 2")
		all := e.server.Requests()
		if len(all) != 4 {
			t.Fatalf("%d requests", len(all))
		}
		contains(t, all[0].Prompt, "Half is a third")
		contains(t, strings.Join(all[3].Results, "\n"), "package stats", "stats.go:3:", "stats.go changed in 1 places, the first at line 3",
			"exit code 3", "n / 2")
		// 4 × (100 in, 20 written, 1000 read, 50 out); OpenAI has no price for what it writes into its cache.
		usd := 4 * (100*10 + 20*12 + 1000*1 + 50*100) / 1e6
		if provider != "anthropic" {
			usd = 4 * (120*10 + 1000*1 + 50*100) / 1e6
		}
		if c := e.w.cost; c.TokensIn != 4*1120 || c.TokensOut != 200 || fmt.Sprintf("%.6f", c.USD) != fmt.Sprintf("%.6f", usd) ||
			e.w.charges != 4 {
			t.Errorf("charged %d times %+v, want $%.6f", e.w.charges, c, usd)
		}
		contains(t, strings.Join(e.w.lines, "\n"), "I look.\nThen I mend.\n", "edit stats.go")
		contains(t, string(out.Output), "> edit {", "Then I mend.", "1120 tokens in (1000 from the cache")
		contains(t, string(out.Asked), "End with finish", "Half is a third")
		if out.Result.Spend.TokensIn != 0 {
			t.Error("the cost is in the outcome, too")
		}
	})
}

func TestWithoutAWatcherTheCostIsInTheOutcome(t *testing.T) {
	e := newEnv(t, "anthropic", modeltest.Turns(fix(), finish()))
	b, err := model.New(e.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := b.Work(t.Context(), e.a); err != nil || out.Result.Spend.TokensIn != 2*1120 {
		t.Errorf("got %+v, %v", out.Result.Spend, err)
	}
}

func TestWhatARuntimeDoesNotTakeComesBackInTheSameConversation(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		e := newEnv(t, provider, modeltest.Turns(
			modeltest.Turn{Calls: []modeltest.Call{{Name: "finish", Args: `{"status": "success", "summ`}}},
			modeltest.Turn{Calls: []modeltest.Call{{Name: "finish", Args: `["success"]`}}},
			modeltest.Calling("finish", map[string]any{"status": "done", "summary": "x", "confidence_score": 1}),
			modeltest.Calling("finish", map[string]any{"status": "success", "summary": "x", "confidence_score": 1, "files_changed": []string{"a"}}),
			modeltest.Calling("finish", map[string]any{"status": "success", "summary": "x", "confidence_score": 1, "next": "paradise"}),
			modeltest.Calling("finish", map[string]any{"status": "success"}),
			modeltest.Calling("deploy", map[string]any{"to": "production"}),
			finish(),
			fix(), finish()))
		e.w.refuse = func(brain.Outcome) error {
			if strings.Contains(e.file("stats.go"), "n / 3") {
				return errors.New("nothing is changed")
			}
			return nil
		}
		e.done()
		all := e.server.Requests()
		said := all[len(all)-1].Results
		for i, want := range []string{"the arguments are not as finish wants them", "the arguments are not as finish wants them", "status",
			"files_changed does not count here",
			"next: paradise is none of running_tests", "summary is missing", "there is no tool deploy; there are read, list, grep",
			"nothing is changed"} {
			contains(t, said[i], want)
		}
		if len(all) != 10 {
			t.Errorf("%d requests", len(all))
		}
	})
}

func TestAQuestionEndsTheWork(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		e := newEnv(t, provider, modeltest.Turns(modeltest.Calling("ask", map[string]any{"question": "Zero or NaN?"})))
		if r := e.done().Result; r.Status != instance.Blocked || len(r.Questions) != 1 || r.Questions[0] != "Zero or NaN?" {
			t.Errorf("the result is %+v", r)
		}
		e = newEnv(t, provider, modeltest.Turns(modeltest.Calling("ask", map[string]any{"question": "Where is it?", "to": "analyst"})))
		if out := e.done(); len(out.Asks) != 1 || out.Asks[0] != (instance.Inquiry{To: "analyst", Question: "Where is it?"}) {
			t.Errorf("it asks %+v", out.Asks)
		}
	})
}

func TestFaultsThatPassAreWaitedOutAndPaid(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		e := newEnv(t, provider, modeltest.Turns(
			modeltest.Status(http.StatusTooManyRequests, "rate_limit_error", "slowly", "Retry-After", "7"),
			modeltest.Status(529, "overloaded_error", "Overloaded"),
			modeltest.Cut(),
			modeltest.Status(http.StatusInternalServerError, "api_error", "oops"),
			fix(), modeltest.Turn{Fault: &modeltest.Fault{Garbage: true}}, finish()))
		e.done()
		if len(e.paused) != 5 || e.paused[0] != 7*time.Second || e.paused[1] > 3*time.Second {
			t.Errorf("it waited %v", e.paused)
		}
		if provider == "anthropic" && e.w.cost.TokensIn != 3*1120 {
			t.Errorf("of a cut answer the beginning is known, and what it cost: got %+v", e.w.cost)
		}
		contains(t, strings.Join(e.w.lines, "\n"), "429", "529", "asked again in 7s")
	})
}

func TestFaultsThatPeopleHaveToMendStopAtOnce(t *testing.T) {
	cases := []struct {
		name, kind string
		status     int
		want       string
	}{
		{"a wrong key", "authentication_error", http.StatusUnauthorized, "give a valid key in "},
		{"no money", "billing_error", http.StatusPaymentRequired, "pay for the account"},
		{"a key without money", "insufficient_quota", http.StatusTooManyRequests, "pay for the account"},
		{"a key without rights", "permission_error", http.StatusForbidden, "let this key use the model"},
		{"a wrong name", "not_found_error", http.StatusNotFound, "correct its name"},
		{"a wrong request", "invalid_request_error", http.StatusBadRequest, "does not take the request"},
	}
	each(t, func(t *testing.T, provider string) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				e := newEnv(t, provider, modeltest.Turns(modeltest.Status(c.status, c.kind, "it says why")))
				_, err := e.work()
				if !errors.Is(err, brain.ErrUnusable) || errors.Is(err, brain.ErrInfrastructure) || len(e.server.Requests()) != 1 {
					t.Fatalf("%d requests, %v", len(e.server.Requests()), err)
				}
				contains(t, err.Error(), c.want, "it says why")
			})
		}
	})
}

func TestAProviderThatDoesNotAnswerIsAFaultOfTheMachinery(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		for name, turn := range map[string]modeltest.Turn{
			"for hours": modeltest.Status(http.StatusTooManyRequests, "rate_limit_error", "come back", "Retry-After", "10800"),
			"ever":      modeltest.Status(http.StatusServiceUnavailable, "api_error", "down"),
			"whole":     modeltest.Cut(),
			"at all":    {Fault: &modeltest.Fault{Stall: true}},
		} {
			t.Run(name, func(t *testing.T) {
				e := newEnv(t, provider, modeltest.Turns(turn))
				e.cfg.Idle = 20 * time.Millisecond
				_, err := e.work()
				if !errors.Is(err, brain.ErrInfrastructure) {
					t.Fatal(err)
				}
				contains(t, err.Error(), "it is to be asked again at", e.server.URL)
			})
		}
		e := newEnv(t, provider, nil)
		e.cfg.URL = "http://127.0.0.1:1"
		if _, err := e.work(); !errors.Is(err, brain.ErrInfrastructure) {
			t.Error(err)
		}
	})
}

func TestAnEndpointThatFailsForOneIsNotAskedByOthers(t *testing.T) {
	e := newEnv(t, "anthropic", modeltest.Turns(modeltest.Status(http.StatusTooManyRequests, "rate_limit_error", "no", "Retry-After", "900")))
	e.cfg.Endpoints = &model.Endpoints{}
	for range 3 {
		if _, err := e.work(); !errors.Is(err, brain.ErrInfrastructure) {
			t.Fatal(err)
		}
	}
	if n := len(e.server.Requests()); n != 1 {
		t.Errorf("it was asked %d times within the time that it named", n)
	}
}

func TestALoopEnds(t *testing.T) {
	cases := map[string]struct {
		script modeltest.Script
		want   string
	}{
		"of the same call": {modeltest.Turns(modeltest.Calling("list", nil)), "said or called the same 6 times in a row"},
		"of other calls": {func(r modeltest.Request) modeltest.Turn {
			return modeltest.Calling("run", map[string]any{"command": fmt.Sprint("echo ", r.N)})
		}, "did not finish within 9 turns"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, "openai", c.script)
			e.cfg.Turns = 9
			_, err := e.work()
			if err == nil || errors.Is(err, brain.ErrInfrastructure) {
				t.Fatal(err)
			}
			contains(t, err.Error(), c.want)
			if name == "of other calls" {
				contains(t, e.server.Requests()[6].Last, "You have 3 turns left")
			}
		})
	}
}

func TestAModelThatOnlyTalksIsRemindedThenTakenAtItsWords(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		e := newEnv(t, provider, modeltest.Turns(fix(), modeltest.Turn{Text: "It is done."}))
		out := e.done()
		if out.Declared || out.Result.Status != instance.Success || out.Result.Summary != "It is done." || len(e.server.Requests()) != 4 {
			t.Errorf("%d requests, %+v", len(e.server.Requests()), out.Result)
		}
		contains(t, e.server.Requests()[2].Last, "end with finish")
	})
}

func TestAnAnswerThatIsCutOffGoesOn(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		e := newEnv(t, provider, modeltest.Turns(modeltest.Turn{Text: "First I", Full: true},
			modeltest.Turn{Calls: []modeltest.Call{{Name: "write", Args: `{"path": "long.go", "content": "pack`}}, Full: true}, fix(), finish()))
		e.done()
		contains(t, e.server.Requests()[2].Results[0], "Go in smaller steps")
		contains(t, e.server.Requests()[1].Last, "cut off at the limit")
	})
}

func TestASpentBudgetEndsTheWorkAtTheNextTurn(t *testing.T) {
	e := newEnv(t, "anthropic", modeltest.Turns(fix(), modeltest.Calling("list", nil), finish()))
	e.w.budget = 2
	if _, err := e.work(); !errors.Is(err, brain.ErrBudget) || len(e.server.Requests()) != 2 {
		t.Errorf("%d requests, %v", len(e.server.Requests()), err)
	}
	e = newEnv(t, "anthropic", modeltest.Turns(fix(), finish()))
	e.w.budget = 2
	if out := e.done(); out.Result.Status != instance.Success {
		t.Errorf("the answer that spent the rest says it is done: %+v", out.Result)
	}
}

func TestOldOutputIsLeftOutBeforeTheConversationIsTooLong(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		read := func(used int64) modeltest.Turn {
			turn := modeltest.Calling("run", map[string]any{"command": fmt.Sprintf("seq %d 6000", used)})
			turn.Usage = modeltest.Usage{In: used, Out: 10}
			return turn
		}
		e := newEnv(t, provider, modeltest.Turns(read(1), read(9_000), read(18_000), read(27_000), read(36_000), read(45_000), fix(), finish()))
		e.cfg.Cards[0].Window = 64_000
		out := e.done()
		contains(t, string(out.Output), "are left out", "near the model's limit")
		results := e.server.Requests()[7].Results
		contains(t, results[0], "left out to make room")
		if strings.Contains(results[5], "left out to make room") {
			t.Error("the newest output is left out, too")
		}
	})
}

func TestARequestThatIsTooLargeIsMadeSmaller(t *testing.T) {
	long := modeltest.Calling("run", map[string]any{"command": "seq 1 4000"})
	turns := []modeltest.Turn{long, fix(), modeltest.Calling("list", nil), modeltest.Calling("list", map[string]any{"path": "."}),
		modeltest.Calling("list", map[string]any{"depth": 1}),
		modeltest.Status(http.StatusRequestEntityTooLarge, "request_too_large", "too large"), finish()}
	e := newEnv(t, "anthropic", modeltest.Turns(turns...))
	e.done()
	contains(t, e.server.Requests()[6].Results[0], "left out to make room")
}

func TestPromptsAreCachedWhereTheServiceHasIt(t *testing.T) {
	e := newEnv(t, "anthropic", modeltest.Turns(fix(), finish()))
	e.done()
	if n := strings.Count(string(e.server.Requests()[1].Body), `"cache_control":{"type":"ephemeral"}`); n != 2 {
		t.Errorf("%d marks: want one after the system and one after the newest message", n)
	}
	e = newEnv(t, "openai", modeltest.Turns(fix(), finish()))
	e.done()
	contains(t, string(e.server.Requests()[1].Body), `"prompt_cache_key":"signalbox acme/widgets/42 developer"`, `"store":false`)
}

func TestWorkIsStoppedAtItsLimitOfTime(t *testing.T) {
	e := newEnv(t, "anthropic", modeltest.Turns(modeltest.Turn{Fault: &modeltest.Fault{Stall: true}}))
	e.cfg.Wall = 20 * time.Millisecond
	if _, err := e.work(); !errors.Is(err, model.ErrTimeLimit) {
		t.Error(err)
	}
}

func TestOnlyTheKeysThatCountAreOffered(t *testing.T) {
	e := newEnv(t, "openai", modeltest.Turns(finish()))
	e.done()
	body := string(e.server.Requests()[0].Body)
	for key, want := range map[string]bool{`"next":{`: true, `"answers":{`: false, `"sections":{`: false, `"data":{`: false,
		`"spend":{`: false} {
		if strings.Contains(body, key) != want {
			t.Errorf("%s is offered: %v", key, !want)
		}
	}
	e = newEnv(t, "openai", modeltest.Turns(finish()))
	e.a.Dir = ""
	e.done()
	if tools := e.server.Requests()[0].Tools; strings.Join(tools, " ") != "ask finish" {
		t.Errorf("without code there are %v", tools)
	}
}

func TestABrainWithoutAKeyIsRefused(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY",
		"OPENAI_BASE_URL"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	for _, p := range model.Providers() {
		if _, err := model.New(model.Config{Provider: p, Name: "m"}); err == nil || !strings.Contains(err.Error(), "_API_KEY") {
			t.Errorf("%s: %v", p, err)
		}
	}
	if _, err := model.Parse("mistral/large"); err == nil {
		t.Error("a provider that there is not is taken")
	}
}
