package app

import (
	"strconv"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/forge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

const piped = "acme/widgets/1"

// pipes opens an instance of the pipeline with code, in a state.
func (g *notifyEnv) pipes(state string) {
	g.Helper()
	_, err := g.client.Do(g.ctx, "open", &pb.Command{Instance: piped, Action: &pb.Command_Open{Open: &pb.Open{Workflow: "pipeline", Issue: wire.Issue(g.issue), Base: "c0ffee"}}})
	if err == nil {
		_, err = g.client.Override(g.ctx, piped, state, "to begin with")
	}
	if err != nil {
		g.Fatal(err)
	}
}

// does has a role claim its work and end the claim with the command.
func (g *notifyEnv) does(role, name string, cmd func(token uint32) *pb.Command) {
	g.Helper()
	in, err := g.client.Get(g.ctx, piped)
	if err != nil {
		g.Fatal(err)
	}
	claimed, err := g.client.DoAs(g.ctx, role, "claim", &pb.Command{Instance: piped, Action: &pb.Command_Claim{Claim: &pb.Claim{Agent: role + "-1", Work: in.GetWork(), LeaseMs: 60_000}}})
	if err == nil {
		c := cmd(claimed.GetToken())
		c.Instance = piped
		_, err = g.client.DoAs(g.ctx, role, name, c)
	}
	if err != nil {
		g.Fatalf("%s %ss: %v", role, name, err)
	}
}

func (g *notifyEnv) reports(role string, r *pb.Result) {
	g.Helper()
	g.does(role, "report", func(token uint32) *pb.Command {
		return &pb.Command{Action: &pb.Command_Report{Report: &pb.Report{Token: token, Result: r}}}
	})
}

func (g *notifyEnv) escalates(role, reason string, requires bool) {
	g.Helper()
	g.does(role, "escalate", func(token uint32) *pb.Command {
		return &pb.Command{Action: &pb.Command_Escalate{Escalate: &pb.Escalate{Token: token, Reason: reason, RequiresHuman: requires}}}
	})
}

// heard waits until all is told, and returns what was said.
func (g *notifyEnv) heard() []forge.Comment {
	g.Helper()
	g.told()
	return g.said()
}

func (g *notifyEnv) state() string {
	g.Helper()
	in, err := g.client.Get(g.ctx, piped)
	if err != nil {
		g.Fatal(err)
	}
	return in.GetState()
}

func TestWhatIsEscalatedIsPutToPeopleOnceAndTheirWordResolvesIt(t *testing.T) {
	g := newNotifyEnv(t)
	g.pipes("reviewer")
	stop := g.notifies()
	g.escalates("reviewer", "It touches authentication, says @ann", true)
	said := g.heard()
	if len(said) != 1 || said[0].Author.Login != "signalbox" {
		t.Fatalf("said is %+v", said)
	}
	for _, want := range []string{"The reviewer asks for a person.", "Reason: It touches authentication, says @ ann.", "A person who may write to this repository: please reply here"} {
		if !strings.Contains(said[0].Body, want) {
			t.Errorf("no %q in\n%s", want, said[0].Body)
		}
	}
	stop()
	g.restart()
	defer g.notifies()()
	for i, c := range []struct{ actor, permission, state string }{{"eve", "read", "blocked"}, {"ann", "write", "open"}} {
		_, err := g.client.Signal(g.ctx, piped, "commented", "comment/"+c.actor, c.actor, map[string]string{"body": "Go on.", "permission": c.permission})
		if err != nil {
			t.Fatal(err)
		}
		in, err := g.client.Get(g.ctx, piped)
		if err != nil || in.GetEscalations()[0].GetResolved() != (i == 1) || in.GetState() != "reviewer" {
			t.Errorf("after %s the escalations are %+v, %v", c.actor, in.GetEscalations(), err)
		}
	}
	g.escalates("reviewer", "Once more", true)
	if said := g.heard(); len(said) != 2 || !strings.Contains(said[1].Body, "Once more") {
		t.Errorf("said is %+v", said)
	}
}

func TestAStateThatSaysSoIsToldWithItsReasonAndTheOpenQuestions(t *testing.T) {
	g := newNotifyEnv(t)
	g.pipes("analyst")
	defer g.notifies()()
	unclear := &pb.Result{Status: "blocked", Summary: "unclear requirements", Questions: []string{"Which sum?", "Which page?"}}
	g.reports("analyst", unclear)
	said := g.heard()
	if len(said) != 1 || g.state() != "blocked" {
		t.Fatalf("in %s said is %+v", g.state(), said)
	}
	for _, want := range []string{"I cannot go on with this by myself.", "Reason: Analyst could not determine scope.", "Last: unclear requirements", "**Q1.** Which sum?", "**Q2.** Which page?", "with `Q1:` and so on"} {
		if !strings.Contains(said[0].Body, want) {
			t.Errorf("no %q in\n%s", want, said[0].Body)
		}
	}
	if _, err := g.client.Note(g.ctx, piped, "remark", "in the same state"); err != nil {
		t.Fatal(err)
	}
	if said := g.heard(); len(said) != 1 {
		t.Errorf("after a note said is %+v", said)
	}
	if _, err := g.client.Signal(g.ctx, piped, "commented", "comment/1", "bob", map[string]string{"body": "Q1: the first"}); err != nil || g.state() != "analyst" {
		t.Fatalf("bob's word leads to %s, %v", g.state(), err)
	}
	g.reports("analyst", unclear)
	if said := g.heard(); len(said) != 2 {
		t.Errorf("the second time said is %+v", said)
	}
}

func TestPeopleAreNotToldWhatIsNotTheirs(t *testing.T) {
	g := newNotifyEnv(t)
	g.pipes("reviewer")
	g.escalates("reviewer", "For your information", false)
	if _, err := g.client.Override(g.ctx, piped, "blocked", "by hand"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.client.Override(g.ctx, piped, "writer", "and on"); err != nil {
		t.Fatal(err)
	}
	defer g.notifies()() // when it is past
	if said := g.heard(); len(said) != 0 {
		t.Errorf("said is %+v", said)
	}
}

func TestWhatHasNoIssueIsTalkedAboutOnItsPullRequest(t *testing.T) {
	g := newNotifyEnv(t)
	about := g.issue
	about.Number = 0
	// To a comment an issue and a pull request are one.
	if _, err := g.client.Do(g.ctx, "open", &pb.Command{Instance: piped, Action: &pb.Command_Open{Open: &pb.Open{
		Workflow: "story", State: "pushed", Issue: wire.Issue(about), Vars: map[string]string{"prNumber": strconv.Itoa(g.issue.Number)},
	}}}); err != nil {
		t.Fatal(err)
	}
	g.notifies()
	g.escalates("shepherd", "The branch holds other commits", true)
	if said := g.heard(); len(said) != 1 || !strings.Contains(said[0].Body, "The branch holds other commits") {
		t.Errorf("said is %+v", said)
	}
}
