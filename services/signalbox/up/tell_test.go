package up

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

func TestUpPrintsALineAMoveAndSaysWhenItWaitsForPeople(t *testing.T) {
	var out, nowhere bytes.Buffer
	teller := newTeller(&term.Env{Stdout: &nowhere, Stderr: &out, JSON: true, Now: time.Now})
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, events := range [][]instance.Event{
		{instance.Opened{State: "received", Owner: "pm", Issue: instance.Issue{Title: "It breaks"}}, instance.Dispatched{State: "received", Owner: "pm"}},
		{instance.Claimed{Role: "pm", Agent: "pm-1"}, instance.Spent{}},
		{instance.Asked{Number: 1, Text: "Which widgets?"},
			instance.Moved{From: "received", To: "waiting", Kind: workflow.Wait, Reason: "the questions are asked"}},
		{instance.Paused{Reason: "lunch"}},
		{instance.Escalated{Number: 1, Agent: "developer/d-1", Reason: "no network", RequiresHuman: true}},
	} {
		at = at.Add(time.Minute)
		if err := teller.commit(client.LogEntry{Event: subject.Event{Instance: "acme/1"}, Commit: instance.Commit{At: at, Events: events}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		"09:01:00  acme/1  → received  It breaks\n",
		"asked Q1  Which widgets?\n", "09:03:00  acme/1  received → waiting  after 2m  the questions are asked\n",
		">>> acme/1 WAITS FOR YOU: the questions are asked\n    signalbox answer acme/1\n",
		">>> acme/1 WAITS FOR YOU: lunch\n    signalbox resume acme/1\n",
		">>> acme/1 WAITS FOR YOU: no network\n    signalbox answer acme/1\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, out.String())
		}
	}
	if said := out.String(); strings.Contains(said, "claimed") || strings.Contains(said, "dispatched") || nowhere.Len() > 0 {
		t.Errorf("it says\n%s%s", said, nowhere.String())
	}
}
