package narrator_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire/wiretest"
	"github.com/signalbox/signalbox/services/signalbox/narrator"
)

func TestEveryEventHasACase(t *testing.T) {
	for name, event := range wiretest.Events(t) {
		var out strings.Builder
		narrator.New(&out, false).Commit(client.LogEntry{Commit: instance.Commit{Events: []instance.Event{event}}})
		if strings.Contains(out.String(), "unknown") {
			t.Errorf("there is no case for %s: %s", name, out.String())
		}
	}
}

func TestOnlyAFaultIsNarrated(t *testing.T) {
	job := agent.Job{Assignment: brain.Assignment{Role: "triage", State: "triage"}}
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		err  error
		says bool
	}{
		"work that is done":       {nil, false},
		"a question to a role":    {&agent.ErrAsk{Questions: []instance.Inquiry{{To: "analyst", Question: "Where?"}}}, false},
		"an escalation to people": {&agent.ErrEscalate{Reason: "It touches the login.", RequiresHuman: true}, false},
		"a fault":                 {broken, true},
		"a fault on the way":      {errors.Join(broken, brain.ErrInfrastructure), true},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			narrator.New(&out, false).Ended(job, instance.Result{}, c.err, 0)
			if says := strings.Contains(out.String(), "broken"); says != c.says || (out.Len() > 0) != c.says {
				t.Errorf("it says %q", out.String())
			}
		})
	}
}
