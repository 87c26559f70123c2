package instance_test

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func TestOnlyPeopleMoveWhatWaitsForNothingElse(t *testing.T) {
	after := func(ended, well bool) []instance.Link {
		return []instance.Link{{Instance: "p/1", Kind: instance.After, Ended: ended, Well: well}}
	}
	held := []instance.Escalation{{Number: 1, RequiresHuman: true}}
	asked := []instance.Question{{Number: 1, To: "cto"}}
	for name, c := range map[string]struct {
		in   instance.Instance
		want bool
	}{
		"a state that nobody works in":   {instance.Instance{Kind: workflow.Wait}, true},
		"one whose question a role has":  {instance.Instance{Kind: workflow.Wait, Questions: asked}, false},
		"work":                           {instance.Instance{Kind: workflow.Work, Owner: "cto"}, false},
		"work that was put to people":    {instance.Instance{Kind: workflow.Work, Owner: "cto", Escalations: held}, true},
		"after what still runs":          {instance.Instance{Kind: workflow.Wait, Links: after(false, false)}, false},
		"after what ended well":          {instance.Instance{Kind: workflow.Wait, Links: after(true, true)}, true},
		"after what will not end well":   {instance.Instance{Kind: workflow.Wait, Links: after(true, false)}, true},
		"cancelled":                      {instance.Instance{Kind: workflow.Wait, Closed: instance.Cancelled}, false},
		"cancelled while put to people":  {instance.Instance{Kind: workflow.Work, Escalations: held, Closed: instance.Cancelled}, false},
		"put to people after what stops": {instance.Instance{Kind: workflow.Work, Escalations: held, Links: after(false, false)}, true},
	} {
		if got := c.in.WaitsForPeople(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
