package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/forge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// errand is a lifecycle of one state.
const errand = `
workflow: errand
version: 1
initial: todo
states:
  todo:
    about: Something is to be done.
    owner: runner
    next: [done]
    decide: [{to: done, reason: it is done}]
  done: {about: It is done., final: true}
`

// runCommand runs a command of the program and returns what it prints to both outputs.
func runCommand(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	env := term.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, User: "operator:ann", Now: time.Now}
	code := Run(t.Context(), env, args)
	return fmt.Sprintf("%sexit %d\n", out.String(), code)
}

// examinedNATS returns the findings of a doctor about a running system by check, as STATUS DETAIL; ADVICE.
func examinedNATS(t *testing.T, url string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for line := range strings.Lines(runCommand(t, "doctor", "--json", "--nats", url, "--sandbox", "none", "--data", t.TempDir(), "--timeout", "5s")) {
		var f finding
		if json.Unmarshal([]byte(line), &f) == nil {
			found[f.Check] = string(f.Status) + " " + f.Detail + "; " + f.Advice
		}
	}
	return found
}

func TestTheDoctorNamesRolesForWhichNobodyWorks(t *testing.T) {
	s := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, s.URL, 1, orchestratortest.Settings{})
	expect(t, examinedNATS(t, s.URL), map[string]string{"pm": "ok nobody works as pm, and there is nothing to do", "lifecycles": "ok all of "})
	c := client.New(s.Connect(t), "operator:ann")
	if _, err := c.Open(t.Context(), "", "issue", "a", instance.Issue{Title: "t"}); err != nil {
		t.Fatal(err)
	}
	expect(t, examinedNATS(t, s.URL), map[string]string{
		"pm":        "warn 1 waiting for an agent, 0 under way, 0 agents free; nobody works as pm: start one, or give it a brain",
		"developer": "ok nobody works as developer, and there is nothing to do",
	})
	if text := runCommand(t, "explain", "a", "--nats", s.URL); !strings.Contains(text, "no pm runs: start one, or give it a brain") {
		t.Errorf("explain prints\n%s", text)
	}
}

func TestADefinitionThatTheOrchestratorCannotLoadIsNamedByDoctorAndExplain(t *testing.T) {
	s := natstest.Start(t, natstest.Options{})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "errand.yaml"), []byte(errand), 0o644); err != nil {
		t.Fatal(err)
	}
	stop := orchestratortest.Start(t, s.URL, 1, orchestratortest.Settings{WorkflowDir: dir})
	c := client.New(s.Connect(t), "operator:ann")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reply, err := c.Open(ctx, "", "errand", "a", instance.Issue{Title: "t"})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	kv, err := s.JetStream(t).KeyValue(ctx, "definitions")
	if err != nil {
		t.Fatal(err)
	}
	hash := reply.GetInstance().GetDefinition()
	if _, err := kv.Put(ctx, hash, []byte(errand+"# as another build stored it\n")); err != nil {
		t.Fatal(err)
	}
	orchestratortest.Start(t, s.URL, 1, orchestratortest.Settings{})
	found := examinedNATS(t, s.URL)["lifecycles"]
	if !strings.HasPrefix(found, "fail the orchestrator cannot load 1 of ") || !strings.Contains(found, hash[:12]) {
		t.Errorf("doctor finds %q", found)
	}
	if text := runCommand(t, "explain", "a", "--nats", s.URL); !strings.Contains(text, "the orchestrator cannot load its definition "+hash[:12]) {
		t.Errorf("explain prints\n%s", text)
	}
}

func TestTheFaultOfTheForgeThatTheGatewayMetIsNamedWithoutAFlag(t *testing.T) {
	s := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, s.URL, 1, orchestratortest.Settings{})
	if found := examinedNATS(t, s.URL); found["forge of the gateway"] != "" {
		t.Errorf("without a gateway doctor finds %q", found["forge of the gateway"])
	}
	answer := make(chan string, 2)
	answer <- `{"config": null}`
	answer <- `{"config": null, "fault": "the forge does not answer"}`
	nc := s.Connect(t)
	_, err := nc.Subscribe(subject.Configuration, func(m *nats.Msg) { _ = m.Respond([]byte(<-answer)) })
	if err = errors.Join(err, nc.Flush()); err != nil {
		t.Fatal(err)
	}
	expect(t, examinedNATS(t, s.URL), map[string]string{"forge of the gateway": "ok it answered"})
	expect(t, examinedNATS(t, s.URL), map[string]string{"forge of the gateway": "fail the forge does not answer"})
}

// A comment that the forge refuses is delivered again and again.
func TestTheDoctorNamesCommentsThatAreOwed(t *testing.T) {
	s := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, s.URL, 1, orchestratortest.Settings{})
	expect(t, examinedNATS(t, s.URL), map[string]string{"comments": "ok none is owed"})
	c := client.New(s.Connect(t), "operator:ann")
	if _, err := c.Open(t.Context(), "", "issue", "a", instance.Issue{Title: "t"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Override(t.Context(), "a", "failed", "by hand"); err != nil {
		t.Fatal(err)
	}
	consumer, err := s.JetStream(t).Consumer(t.Context(), subject.EventStream, subject.Endings)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		m, err := consumer.Next()
		if err == nil {
			err = m.Nak()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := consumer.Next(); err != nil {
		t.Fatal(err)
	}
	expect(t, examinedNATS(t, s.URL), map[string]string{"comments": "warn 1 comment for people could not be posted"})
}

func TestABrainThatIsSilentIsNamedByDoctorAndExplain(t *testing.T) {
	s := natstest.Start(t, natstest.Options{})
	orchestratortest.Start(t, s.URL, 1, orchestratortest.Settings{})
	expect(t, examinedNATS(t, s.URL), map[string]string{"work": "ok none came back"})
	c := client.New(s.Connect(t), "operator:ann")
	opened, err := c.Open(t.Context(), "", "issue", "a", instance.Issue{Title: "t"})
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := c.DoAs(t.Context(), "pm", "claim", &pb.Command{Instance: "a", Action: &pb.Command_Claim{Claim: &pb.Claim{
		Agent: "pm-1", Work: opened.GetInstance().GetWork(), LeaseMs: 60_000}}})
	if err != nil {
		t.Fatal(err)
	}
	const silent = "the brain was stopped after printing nothing for 10m0s (idle time limit)"
	if _, err := c.DoAs(t.Context(), "pm", "fail", &pb.Command{Instance: "a", Action: &pb.Command_Fail{Fail: &pb.Fail{
		Token: claimed.GetToken(), Reason: silent}}}); err != nil {
		t.Fatal(err)
	}
	expect(t, examinedNATS(t, s.URL), map[string]string{"work": "warn 1 piece of work came back because of the machinery: a in received, pm-1 gave it back"})
	if found := examinedNATS(t, s.URL)["work"]; !strings.Contains(found, silent) {
		t.Errorf("doctor finds %q", found)
	}
	if text := strings.Join(strings.Fields(runCommand(t, "explain", "a", "--nats", s.URL)), " "); !strings.Contains(text, silent) {
		t.Errorf("explain prints\n%s", text)
	}
}

func TestTheDoctorDoesNotBlameTheAddressOfAForgeThatHasAFault(t *testing.T) {
	if got := reachAdvice(fmt.Errorf("read the time: %w: 500", forge.ErrUnavailable)); !strings.HasPrefix(got, "try again later") {
		t.Errorf("of a 500 it advises %q", got)
	}
	if got := reachAdvice(forge.ErrNotFound); !strings.HasPrefix(got, "--forge-url is the address") {
		t.Errorf("of a 404 it advises %q", got)
	}
}
