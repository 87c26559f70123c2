package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
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

func TestTheDoctorDoesNotBlameTheAddressOfAForgeThatHasAFault(t *testing.T) {
	if got := reachAdvice(fmt.Errorf("read the time: %w: 500", forge.ErrUnavailable)); !strings.HasPrefix(got, "try again later") {
		t.Errorf("of a 500 it advises %q", got)
	}
	if got := reachAdvice(forge.ErrNotFound); !strings.HasPrefix(got, "--forge-url is the address") {
		t.Errorf("of a 404 it advises %q", got)
	}
}
