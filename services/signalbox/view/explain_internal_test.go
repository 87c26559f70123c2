package view

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/standing"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func TestAnExplanationNamesTheLastFaultOfEveryRole(t *testing.T) {
	def, err := workflow.Builtin("story")
	if err != nil {
		t.Fatal(err)
	}
	fault := &standing.Fault{Agent: "developer-1", Reason: "502 Bad Gateway.", At: at(-2)}
	silent := &instance.ActiveClaim{Agent: "developer-2", At: at(-10), Lease: at(-1)}
	for _, c := range []struct {
		name  string
		asks  string
		fault *standing.Fault
		claim *instance.ActiveClaim
		want  string
	}{
		{"of a role that is asked", "developer", fault, nil,
			"developer-1 gave the work back 2m ago: 502 Bad Gateway. developer is asked something, and it is tried again."},
		{"of a role that is asked, which has gone silent", "developer", fault, silent,
			"developer-1 gave the work back 2m ago: 502 Bad Gateway. developer is asked something, and it is tried again."},
		{"of a role that is asked, without a fault", "developer", nil, nil,
			"developer is asked something, and nobody has taken that: no developer runs, or all have other work."},
		{"of the owner", "", fault, nil,
			"developer-1 gave the work back 2m ago: 502 Bad Gateway. It is tried again."},
		{"of the owner, which has gone silent", "", fault, silent,
			"developer-2 took it 10m ago and went silent: its lease ran out 1m ago. The work goes to the next shepherd that is free. " +
				"developer-1 gave it back before, 2m ago: 502 Bad Gateway."},
	} {
		env, _ := screen(0)
		whole := instance.Instance{ID: "s", State: "pushed", Kind: workflow.Work, Owner: "shepherd", Claim: c.claim}
		if c.asks != "" {
			whole.Questions = []instance.Question{{Number: 1, To: c.asks}}
		}
		in := Of(wire.FullView(whole))
		in.past.Fault = c.fault
		if got := Explain(env, def, in).Why; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
