package app

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/forge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestAnAnswerReachesATaskThatHasNoIssueOfItsOwn(t *testing.T) {
	e := newEnv(t)
	p := e.poller(strict)
	const id = "plan/GREET-1"
	if _, err := e.client.OpenWith(e.ctx, "", id, &pb.Open{Workflow: "task", Issue: wire.Issue(instance.Issue{Repo: widgets, Title: "Greet"})}); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"assigned", "planning", "cto_intervention", "human_escalation"} {
		if _, err := e.client.DoAs(e.ctx, "cto", "override", &pb.Command{Instance: id, Actor: "x-1",
			Action: &pb.Command_Override{Override: &pb.Override{To: to, Reason: "I found no way"}}}); err != nil {
			t.Fatal(err)
		}
	}
	body := rules.Asks("Greet", id) + "\n" + rules.Marker(id, rules.AsksPeople)
	asked, err := e.forge.Client("signalbox").CreateIssue(e.ctx, widgets, forge.NewIssue{Title: id + " needs a person", Body: body})
	if err != nil {
		t.Fatal(err)
	}
	forged, err := e.bob.CreateIssue(e.ctx, widgets, forge.NewIssue{Title: "I say so", Body: body})
	if err != nil {
		t.Fatal(err)
	}
	state := func() string {
		in, err := e.client.Get(e.ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return in.GetState()
	}
	e.poll(p)
	e.second.Add(1)
	e.say(e.bob, asked.Number, "Drop it all")
	e.say(e.ann, forged.Number, "Say hello to the moon")
	e.say(e.ann, asked.Number, "Thanks, I will look tomorrow")
	e.poll(p)
	if s := state(); s != "human_escalation" {
		t.Fatalf("it is in %s", s)
	}
	e.second.Add(1)
	e.say(e.ann, asked.Number, "Greet the world")
	e.poll(e.poller(strict))
	if s := state(); s != "planning" && s != "assigned" {
		t.Errorf("it is in %s", s)
	}
	if got := e.instances(); len(got) != 1 {
		t.Errorf("the instances are %q", got)
	}
}
