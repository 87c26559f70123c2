package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// foreign is an agent in another language: NATS and JSON are all it has. It is
// written after docs/agent-protocol.md and uses nothing of this repository.
type foreign struct {
	t  *testing.T
	nc *nats.Conn
	js jetstream.JetStream
}

func (f foreign) ask(subject string, body map[string]any) map[string]any {
	f.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		f.t.Fatal(err)
	}
	msg, err := f.nc.RequestMsg(&nats.Msg{Subject: subject, Data: data, Header: nats.Header{"Content-Type": {"application/json"}}},
		time.Minute)
	if err != nil {
		f.t.Fatalf("%s: %v", subject, err)
	}
	var reply map[string]any
	if err := json.Unmarshal(msg.Data, &reply); err != nil {
		f.t.Fatalf("%s: %v in %s", subject, err, msg.Data)
	}
	return reply
}

// step takes the role's next piece of work, claims it, beats once, reports the
// result and acknowledges. It returns the state the work was in and the reply.
func (f foreign) step(role string, result map[string]any) (string, map[string]any) {
	f.t.Helper()
	consumer, err := f.js.Consumer(f.t.Context(), "EVENTS", role)
	if err != nil {
		f.t.Fatal(err)
	}
	msg, err := consumer.Next(jetstream.FetchMaxWait(time.Minute))
	if err != nil {
		f.t.Fatalf("no work for %s: %v", role, err)
	}
	meta, err := msg.Metadata()
	if err != nil {
		f.t.Fatal(err)
	}
	tokens := strings.Split(msg.Subject(), ".") // sb evt work <workflow> <state> <instance>
	state, name := tokens[4], tokens[5]
	claimed := f.ask("sb.api.agent."+role+".claim", map[string]any{"instance": name,
		"claim": map[string]any{"agent": "foreign", "work": meta.Sequence.Stream, "lease_ms": 30000}})
	if claimed["refusal"] != nil {
		f.t.Fatalf("claim of %s refused: %v", state, claimed["refusal"])
	}
	token := claimed["token"]
	if beat := f.ask("sb.api.agent."+role+".heartbeat", map[string]any{"instance": name,
		"heartbeat": map[string]any{"token": token, "lease_ms": 30000}}); beat["refusal"] != nil {
		f.t.Fatalf("heartbeat in %s refused: %v", state, beat["refusal"])
	}
	reply := f.ask("sb.api.agent."+role+".report", map[string]any{"instance": name,
		"report": map[string]any{"token": token, "result": result}})
	if reply["refusal"] != nil {
		f.t.Fatalf("report in %s refused: %v", state, reply["refusal"])
	}
	if err := msg.DoubleAck(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	return state, reply
}

func TestAnAgentInAnyLanguageDrivesAnInstanceWithRawMessages(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, server.URL, 1, app.Settings{})
	nc := server.Connect(t)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	f := foreign{t, nc, js}

	if r := f.ask("sb.api.open", map[string]any{"instance": "demo-1", "open": map[string]any{
		"workflow": "issue", "issue": map[string]any{"title": "It is broken", "body": "Please fix.", "author": "ann"}}}); r["refusal"] != nil {
		t.Fatal(r["refusal"])
	}
	const commit = "5e1f0c7a9d3b2a4c6e8f0a1b2c3d4e5f60718293"
	passed := []any{map[string]any{"name": "tests", "ok": true, "commit": commit, "command": "make test", "passed": 12}}
	failed := []any{map[string]any{"name": "tests", "ok": false, "commit": commit, "command": "make test", "exit_code": 1,
		"failed": []any{"TestA"}}}
	steps := []struct {
		role, state string
		result      map[string]any
		next        string
	}{
		{"pm", "received", map[string]any{"status": "success", "confidence_score": 1}, "analyzing_requirements"},
		{"analyst", "analyzing_requirements",
			map[string]any{"status": "success", "confidence_score": 0.4, "questions": []any{"What did you expect?"}}, "requirements_unclear"},
		{"pm", "requirements_unclear", map[string]any{"status": "success", "confidence_score": 1}, "waiting_for_requirements_clarification"},
		{"", "commented", nil, "requirements_clarified"},
		{"pm", "requirements_clarified",
			map[string]any{"status": "success", "confidence_score": 1,
				"answers": []any{map[string]any{"question": 1, "text": "Five", "by": "ann"}}}, "creating_tests"},
		{"tester", "creating_tests", map[string]any{"status": "success", "confidence_score": 1}, "implementing"},
		{"developer", "implementing", map[string]any{"status": "success", "confidence_score": 0.95, "head": commit}, "running_tests"},
		{"tester", "running_tests", map[string]any{"status": "failure", "evidence": failed, "failure_signature": "a"}, "fixing_issues"},
		{"developer", "fixing_issues", map[string]any{"status": "success", "confidence_score": 1, "head": commit}, "running_tests"},
		{"tester", "running_tests", map[string]any{"status": "success", "confidence_score": 1, "evidence": passed}, "validating_solution"},
		{"tester", "validating_solution", map[string]any{"status": "success", "confidence_score": 1, "evidence": passed}, "creating_pr"},
		{"pm", "creating_pr", map[string]any{"status": "success", "confidence_score": 1,
			"data": map[string]any{"pr_url": "https://forge.example/1"}}, "completed"},
	}
	for _, s := range steps {
		var state string
		var reply map[string]any
		if s.role == "" {
			state = s.state
			reply = f.ask("sb.api.signal",
				map[string]any{"instance": "demo-1", "actor": "ann",
					"signal": map[string]any{"name": s.state, "ref": "comment/1", "data": map[string]any{"body": "Five."}}})
		} else {
			state, reply = f.step(s.role, s.result)
		}
		now := reply["instance"].(map[string]any)["state"]
		if state != s.state || now != s.next {
			t.Fatalf("a step in %s led to %v, want %s to %s", state, now, s.state, s.next)
		}
	}
	got := f.ask("sb.api.get", map[string]any{"instance": "demo-1"})["instance"].(map[string]any)
	if got["closed"] != "ended" || len(got["previous_states"].([]any)) != 12 {
		t.Errorf("it ended %v with %v", got["closed"], got["previous_states"])
	}
}

// A foreign agent that has a claim wait is given the work as it is made, or else
// finds it in the queue.
func TestAnAgentInAnyLanguageIsGivenWorkThatItWaitsFor(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, server.URL, 1, app.Settings{AckWait: time.Minute})
	nc := server.Connect(t)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	f := foreign{t, nc, js}
	success := map[string]any{"status": "success", "confidence_score": 1}
	for n := range 20 {
		name := fmt.Sprintf("demo-%d", n)
		f.ask("sb.api.open", map[string]any{"instance": name, "open": map[string]any{"workflow": "issue", "issue": map[string]any{"title": "t"}}})
		inbox, err := nc.SubscribeSync(nc.NewInbox())
		if err == nil {
			err = nc.PublishRequest("sb.api.agent.analyst.claim", inbox.Subject,
				[]byte(`{"claim":{"agent":"foreign","lease_ms":60000,"wait_ms":2000}}`))
		}
		if err != nil {
			t.Fatal(err)
		}
		f.step("pm", success)
		msg, err := inbox.NextMsg(time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		var claimed struct {
			Token    int
			Instance struct{ Instance, State string }
			Refusal  *struct{ Code string }
		}
		if err := json.Unmarshal(msg.Data, &claimed); err != nil {
			t.Fatal(err)
		}
		if no := claimed.Refusal; no != nil {
			if state, _ := f.step("analyst", success); no.Code != "no_work" || state != "analyzing_requirements" {
				t.Fatalf("refused %v, and the queue has work of %s", no, state)
			}
			continue
		}
		if in := claimed.Instance; in.Instance != name || in.State != "analyzing_requirements" {
			t.Fatalf("given %s", msg.Data)
		}
		reply := f.ask("sb.api.agent.analyst.report",
			map[string]any{"instance": name, "report": map[string]any{"token": claimed.Token, "result": success}})
		if reply["refusal"] != nil {
			t.Fatal(reply["refusal"])
		}
		consumer, err := js.Consumer(t.Context(), "EVENTS", "analyst")
		if err != nil {
			t.Fatal(err)
		}
		if info := consumer.CachedInfo(); info.NumPending != 0 || info.NumAckPending != 0 { // there was nothing to acknowledge
			t.Errorf("the queue has %d, %d of them delivered", info.NumPending, info.NumAckPending)
		}
		return
	}
	t.Error("no claim that waits ever gets work")
}

func TestEveryRefusalSaysWhatWouldBeRight(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, server.URL, 1, app.Settings{})
	nc := server.Connect(t)
	f := foreign{t, nc, nil}
	opened := f.ask("sb.api.open",
		map[string]any{"instance": "x", "open": map[string]any{"workflow": "issue", "issue": map[string]any{"title": "t"}}})
	work := opened["instance"].(map[string]any)["work"]
	others := f.ask("sb.api.open",
		map[string]any{"instance": "z", "open": map[string]any{"workflow": "issue", "issue": map[string]any{"title": "t"}}})["seq"]
	claim := func(role, agent string, work any) map[string]any {
		return f.ask("sb.api.agent."+role+".claim",
			map[string]any{"instance": "x", "claim": map[string]any{"agent": agent, "work": work, "lease_ms": 60000}})
	}
	cases := []struct {
		name, code, says string
		reply            map[string]any
	}{
		{"an unknown workflow", "invalid", "issue",
			f.ask("sb.api.open", map[string]any{"instance": "y",
				"open": map[string]any{"workflow": "isue", "issue": map[string]any{"title": "t"}}})},
		{"the same instance twice", "exists", "received",
			f.ask("sb.api.open", map[string]any{"instance": "x",
				"open": map[string]any{"workflow": "issue", "issue": map[string]any{"title": "t"}}})},
		{"an unknown instance", "unknown_instance", "no such",
			f.ask("sb.api.pause", map[string]any{"instance": "nobody", "pause": map[string]any{}})},
		{"another role's work", "not_owner", "developer does not own", claim("developer", "d", work)},
		{"work that is past", "stale", "past", claim("pm", "a", others)},
		{"work that is yet to come", "unavailable", "behind", claim("pm", "a", 999)},
		{"the work", "", "", claim("pm", "a", work)},
		{"work that is held", "held", "a holds it until", claim("pm", "b", work)},
		{"a report under another token", "lapsed", "token 7",
			f.ask("sb.api.agent.pm.report",
				map[string]any{"instance": "x", "report": map[string]any{"token": 7, "result": map[string]any{"status": "success"}}})},
		{"a status there is not", "invalid", "done",
			f.ask("sb.api.agent.pm.report",
				map[string]any{"instance": "x", "report": map[string]any{"token": 1, "result": map[string]any{"status": "done"}}})},
		{"a field there is not", "invalid", "tokn",
			f.ask("sb.api.agent.pm.report", map[string]any{"instance": "x", "report": map[string]any{"tokn": 1}})},
		{"a command on another's subject", "invalid", "pause",
			f.ask("sb.api.resume", map[string]any{"instance": "x", "pause": map[string]any{}})},
		{"an override to nowhere", "invalid", "merged",
			f.ask("sb.api.override", map[string]any{"instance": "x", "override": map[string]any{"to": "merged", "reason": "r"}})},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			refusal, _ := c.reply["refusal"].(map[string]any)
			if c.code == "" {
				if refusal != nil {
					t.Fatalf("refused: %v", refusal)
				}
				return
			}
			if refusal["code"] != c.code || !strings.Contains(refusal["message"].(string), c.says) {
				t.Errorf("answered %v, want code %s and a text with %q", refusal, c.code, c.says)
			}
		})
	}
	for name, body := range map[string]string{"not JSON": "{", "an empty message": "", "noise": "\xff\xfe\x00"} {
		msg, err := nc.Request("sb.api.pause", []byte(body), time.Minute)
		if err != nil || msg.Header.Get("Nats-Service-Error-Code") != "400" {
			t.Errorf("%s: answered %v, %v; want error 400", name, msg.Header, err)
		}
	}
}
