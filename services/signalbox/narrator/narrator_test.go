package narrator_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/services/signalbox/narrator"
)

func TestOnlyAFaultIsTold(t *testing.T) {
	job := agent.Job{Assignment: brain.Assignment{Role: "triage", State: "triage"}}
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		err  error
		told bool
	}{
		"work that is done":       {nil, false},
		"a question to a role":    {&agent.Asking{Questions: []instance.Inquiry{{To: "analyst", Question: "Where?"}}}, false},
		"an escalation to people": {&agent.Escalating{Reason: "It touches the login.", RequiresHuman: true}, false},
		"a fault":                 {broken, true},
		"a fault on the way":      {errors.Join(broken, brain.ErrInfrastructure), true},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			narrator.New(&out, false).Ended(job, instance.Result{}, c.err, 0)
			if told := strings.Contains(out.String(), "broken"); told != c.told || (out.Len() > 0) != c.told {
				t.Errorf("it says %q", out.String())
			}
		})
	}
}
