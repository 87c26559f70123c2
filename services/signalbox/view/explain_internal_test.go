package view

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func TestARaiseIsOfTheKindOfTheBudgetThatIsSpent(t *testing.T) {
	for reason, want := range map[string]string{
		"the budget repo=acme/widgets,day=5usd is spent: $5.50 of $5.00": "+5usd",
		"the budget day=8h0m0s is spent: 8h0m0s of 8h0m0s":               "+2h",
		"the budget day=10tokens is spent: 10 of 10 tokens":              "+200000tokens",
		"today's costs are being read":                                   "+5usd",
	} {
		if got := (Parked{Reason: reason}).raise(); got != want {
			t.Errorf("%s: %s, want %s", reason, got, want)
		}
	}
}

func TestAnExplanationNamesTheLastFaultOfEveryRole(t *testing.T) {
	def, err := workflow.Builtin("story")
	if err != nil {
		t.Fatal(err)
	}
	fault := &Fault{Agent: "developer-1", Reason: "502 Bad Gateway.", At: at(-2)}
	silent := &Claim{Agent: "developer-2", At: at(-10), Lease: at(-1)}
	for _, c := range []struct {
		name string
		in   Instance
		want string
	}{
		{"of a role that is asked", Instance{Worker: "developer", LastFault: fault},
			"developer-1 gave the work back 2m ago: 502 Bad Gateway. developer is asked something, and it is tried again."},
		{"of a role that is asked, which has gone silent", Instance{Worker: "developer", LastFault: fault, Claim: silent},
			"developer-1 gave the work back 2m ago: 502 Bad Gateway. developer is asked something, and it is tried again."},
		{"of a role that is asked, without a fault", Instance{Worker: "developer"},
			"developer is asked something, and nobody has taken that: no developer runs, or all have other work."},
		{"of the owner", Instance{Worker: "shepherd", LastFault: fault},
			"developer-1 gave the work back 2m ago: 502 Bad Gateway. It is tried again."},
		{"of the owner, which has gone silent", Instance{Worker: "shepherd", LastFault: fault, Claim: silent},
			"developer-2 took it 10m ago and went silent: its lease ran out 1m ago. The work goes to the next shepherd that is free. " +
				"developer-1 gave it back before, 2m ago: 502 Bad Gateway."},
	} {
		env, _ := screen(0)
		c.in.Instance, c.in.State, c.in.Kind, c.in.Owner = "s", "pushed", workflow.Work, "shepherd"
		if got := Explain(env, def, c.in).Why; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
