package api_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/access/accesstest"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

var (
	system    = access.Party{Kind: access.Orchestrator}
	gateway   = access.Party{Kind: access.Gateway}
	pm        = access.Party{Kind: access.Agent, Name: "pm"}
	developer = access.Party{Kind: access.Agent, Name: "developer"}
	vera      = access.Party{Kind: access.View, Name: "vera"}
	ann       = access.Party{Kind: access.Act, Name: "ann"}
	console   = access.Party{Kind: access.Console}
	ada       = access.Party{Kind: access.Admin, Name: "ada"}
)

// unheard is how long a client tries whose account does not import what it asks for.
const unheard = 3 * time.Second

// withAccounts returns an API whose server has the parties, and the connections of each.
func withAccounts(t *testing.T) (e *env, as func(access.Party) *nats.Conn) {
	t.Helper()
	s := accesstest.Start(t, system, gateway, pm, developer, vera, ann, ada, console)
	e = newEnvOn(t, nil, s.As(t, system))
	return e, func(p access.Party) *nats.Conn { return s.As(t, p) }
}

func TestAPersonGivesTheCommandsThatTheirAccountMayAndAsThemselves(t *testing.T) {
	e, as := withAccounts(t)
	do := func(p access.Party, f func(context.Context, *client.Client) error) error {
		ctx, cancel := context.WithTimeout(e.Context(), unheard)
		defer cancel()
		return f(ctx, client.New(as(p), "operator:mallory")) // whatever the message says
	}
	open := func(ctx context.Context, c *client.Client) error {
		_, err := c.Open(ctx, "", "issue", "acme/widgets/1", instance.Issue{Title: "t", Body: "b"})
		return err
	}
	pause := func(ctx context.Context, c *client.Client) error {
		_, err := c.Pause(ctx, "acme/widgets/1", "wait")
		return err
	}
	override := func(ctx context.Context, c *client.Client) error {
		_, err := c.Override(ctx, "acme/widgets/1", "failed", "because")
		return err
	}
	get := func(ctx context.Context, c *client.Client) error { _, err := c.Get(ctx, "acme/widgets/1"); return err }
	for _, step := range []struct {
		name  string
		party access.Party
		do    func(context.Context, *client.Client) error
		wants string // of the refusal; empty: none
	}{
		{"vera opens", vera, open, "view-vera may not open"},
		{"ann opens", ann, open, ""},
		{"vera reads", vera, get, ""},
		{"vera pauses", vera, pause, "view-vera may not pause"},
		{"the gateway pauses", gateway, pause, "the gateway speaks for people of the forge, not for operator:mallory"},
		{"the gateway overrides", gateway, override, "deadline"},
		{"a developer pauses", developer, pause, "deadline"},
		{"ann overrides", ann, override, "act-ann may not override"},
		{"ann pauses", ann, pause, ""},
		{"ada overrides", ada, override, ""},
	} {
		err := do(step.party, step.do)
		switch {
		case step.wants == "" && err != nil:
			t.Errorf("%s: %v", step.name, err)
		case step.wants != "" && (err == nil || !strings.Contains(err.Error(), step.wants)):
			t.Errorf("%s: %v, want %q", step.name, err, step.wants)
		}
	}
	history, err := client.New(as(vera), "").History(e.Context(), "acme/widgets/1", 0)
	if err != nil {
		t.Fatal(err)
	}
	var actors []string
	for _, r := range history {
		actors = append(actors, r.GetCommit().GetActor())
	}
	if got := strings.Join(actors, " "); got != "operator:ann operator:ann operator:ada" {
		t.Errorf("the log names %s", got)
	}
}

func TestAConsoleGivesTheCommandsOfThePersonWhomItAsksFor(t *testing.T) {
	e, as := withAccounts(t)
	c := client.New(as(console), "")
	if _, err := client.New(as(ann), "").Open(e.Context(), "", "issue", "acme/widgets/1", instance.Issue{Title: "t", Body: "b"}); err != nil {
		t.Fatal(err)
	}
	pause := func(c *client.Client) error { return second(c.Pause(e.Context(), "acme/widgets/1", "wait")) }
	override := func(c *client.Client) error {
		return second(c.Override(e.Context(), "acme/widgets/1", "failed", "because"))
	}
	for _, step := range []struct {
		actor, right string
		do           func(*client.Client) error
		wants        string // of the refusal; empty: none
	}{
		{"view-vera", "", pause, "view-vera may not pause"},
		{"act-ann", "", override, "act-ann may not override"},
		{"operator:octocat@github", "act", override, "act-octocat@github may not override"},
		{"operator:octocat@github", "admin", override, "the orchestrator's --github-right is act"},
		{"operator:octocat@github", "", pause, "a person may view, act or admin"},
		{"operator:octocat@github", "orchestrator", pause, "a person may view, act or admin"},
		{"operator:octocat@github", "agent", pause, "a person may view, act or admin"},
		{"operator:ann", "act", pause, "a console asks for operator:LOGIN@github"},
		{"operator:ada", "admin", override, "a console asks for operator:LOGIN@github"},
		{"", "admin", pause, "a console asks for operator:LOGIN@github"},
		{"operator", "admin", pause, "a console asks for operator:LOGIN@github"},
		{"operator:", "admin", pause, "a console asks for operator:LOGIN@github"},
		{"operator:@github", "admin", pause, "a console asks for operator:LOGIN@github"},
		{"operator:ann@github@github", "admin", pause, "a console asks for operator:LOGIN@github"},
		{"operator:a/b@github", "admin", pause, "a console asks for operator:LOGIN@github"},
		{"operator:ann\nadmin@github", "admin", pause, "a console asks for operator:LOGIN@github"},
		{"developer/developer-1", "admin", pause, "a console asks for operator:LOGIN@github"},
		{"orchestrator", "admin", pause, "a console asks for operator:LOGIN@github"},
		{"octocat", "admin", pause, "a console asks for operator:LOGIN@github"},
		{"operator:octocat@github", "act", pause, ""},
		{"admin-ada", "", override, ""},
	} {
		asks := c.For(step.actor, step.right)
		if step.actor != "" && step.right == "" && !strings.HasPrefix(step.actor, "operator") {
			asks = c.As(step.actor)
		}
		err := step.do(asks)
		no := new(instance.Refusal)
		switch {
		case step.wants == "" && err != nil:
			t.Errorf("%q with %q: %v", step.actor, step.right, err)
		case step.wants != "" && (!errors.As(err, &no) || no.Code != instance.CodeForbidden || !strings.Contains(no.What, step.wants)):
			t.Errorf("%q with %q: %v, want %q", step.actor, step.right, err, step.wants)
		}
	}
	history, err := c.History(e.Context(), "acme/widgets/1", 0)
	if err != nil {
		t.Fatal(err)
	}
	var actors []string
	for _, r := range history {
		actors = append(actors, r.GetCommit().GetActor())
	}
	if got := strings.Join(actors, " "); got != "operator:ann operator:octocat@github operator:ada" {
		t.Errorf("the log names %s", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), unheard)
	defer cancel()
	if _, err := c.For("operator:ada", "admin").DoAs(ctx, "developer", subject.Claim, &pb.Command{Instance: "acme/widgets/1", Action: &pb.Command_Claim{Claim: &pb.Claim{Agent: "a", Work: 1}}}); err == nil {
		t.Error("it claims work")
	}
	for _, account := range []string{"admin-eve", "gateway", "SYSTEM", "agent-developer"} {
		ctx, cancel := context.WithTimeout(t.Context(), unheard)
		if _, err := c.As(account).Pause(ctx, "acme/widgets/1", "wait"); err == nil {
			t.Errorf("it pauses as %s", account)
		}
		cancel()
	}
	if err := second(client.New(as(ann), "").For("operator:ada", "admin").Override(t.Context(), "acme/widgets/1", "received", "because")); err == nil || !strings.Contains(err.Error(), "act-ann may not override") {
		t.Errorf("a person who names another's right is answered %v", err)
	}
}

func TestTheGatewayCannotNameAnOperator(t *testing.T) {
	e, as := withAccounts(t)
	_, err := client.New(as(gateway), "operator:ann").Open(e.Context(), "", "issue", "acme/widgets/1", instance.Issue{Title: "t", Body: "b"})
	if no := new(instance.Refusal); !errors.As(err, &no) || no.Code != instance.CodeForbidden {
		t.Errorf("it was answered %v", err)
	}
	if _, err := client.New(as(gateway), "octocat").Open(e.Context(), "", "issue", "acme/widgets/1",
		instance.Issue{Title: "t", Body: "b"}); err != nil {
		t.Error(err)
	}
}

func TestAnAgentClaimsForItsRoleOnly(t *testing.T) {
	e, as := withAccounts(t)
	opened, err := client.New(as(ann), "").Open(e.Context(), "", "issue", "acme/widgets/1", instance.Issue{Title: "t", Body: "b"})
	if err != nil {
		t.Fatal(err)
	}
	claim := &pb.Command{Instance: "acme/widgets/1", Actor: "a1", Action: &pb.Command_Claim{Claim: &pb.Claim{
		Agent: "a1", Work: opened.GetSeq(), LeaseMs: uint32(time.Minute.Milliseconds())}}}
	ctx, cancel := context.WithTimeout(e.Context(), unheard)
	defer cancel()
	if _, err := client.New(as(developer), "a1").DoAs(ctx, "pm", subject.Claim, claim); err == nil {
		t.Error("a developer has claimed the work of the pm")
	}
	if _, err := client.New(as(pm), "a1").DoAs(e.Context(), "pm", subject.Claim, claim); err != nil {
		t.Errorf("the pm has no claim: %v", err)
	}
}
