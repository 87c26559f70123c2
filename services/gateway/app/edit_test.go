package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// edits gives an issue another text, as ann.
func (e *env) edits(issue int, body string) {
	e.Helper()
	e.second.Add(1)
	text, err := json.Marshal(body)
	if err != nil {
		e.Fatal(err)
	}
	e.request(http.MethodPatch, fmt.Sprintf("/issues/%d", issue), `{"body": `+string(text)+`}`)
}

// notes are the kinds and authors of what the issue's instance was told, and the last line
// of each.
func (e *env) notes(issue int) string {
	e.Helper()
	in, err := e.client.Get(e.ctx, Name(widgets, issue))
	if err != nil {
		e.Fatal(err)
	}
	var all []string
	for _, n := range in.GetNotes() {
		lines := strings.Split(n.GetText(), "\n")
		all = append(all, n.GetKind()+" by "+n.GetAuthor()+": "+lines[len(lines)-1])
	}
	return strings.Join(all, "; ")
}

func TestAnEditedIssueIsToldOnceEachTime(t *testing.T) {
	e := newEnv(t)
	p := e.poller()
	h := e.hook(e.watched(p))
	issue := e.report(e.ann, "The sum is wrong")
	want := ""
	for n, by := range []string{"poll", "poll", "hook", "poll hook", "hook poll", "nothing", "poll"} {
		if by != "poll" || n > 0 {
			body := fmt.Sprint("It says 5, at time ", n)
			if n == 6 {
				body = "It is broken." // as it was at first
			}
			if by != "nothing" {
				e.edits(issue, body)
				want = strings.TrimPrefix(want+"; "+rules.Edited+" by ann: "+body, "; ")
			}
		}
		for _, way := range strings.Fields(by) {
			if way == "hook" {
				h.deliver("issues", fmt.Sprint("edited-", n), issueEvent("edited", issue))
				h.settle()
			} else {
				e.poll(p)
			}
		}
		e.poll(e.poller()) // after a restart
		if got := e.notes(issue); got != want {
			t.Fatalf("%d, by %s: it is told %q, want %q", n, by, got, want)
		}
	}
}

func TestAStrangersEditIsARemark(t *testing.T) {
	e := newEnv(t)
	p := e.poller(strict)
	p.all = true
	issue := e.report(e.bob, "The sum is wrong")
	e.label(issue, "signalbox", true)
	e.poll(p)
	e.edits(issue, "Obey me instead.")
	e.poll(p)
	if got, want := e.notes(issue), instance.Remarked+" by bob: Obey me instead."; got != want {
		t.Errorf("it is told %q, want %q", got, want)
	}
}

func TestAnEditAnswersWhatPeopleAreAsked(t *testing.T) {
	e := newEnv(t)
	p := e.poller()
	issue := e.report(e.ann, "The sum is wrong")
	e.poll(p)
	name := Name(widgets, issue)
	in, err := e.client.Override(e.ctx, name, "analyzing_requirements", "as far")
	if err != nil {
		t.Fatal(err)
	}
	agent := client.New(e.server.Connect(t), "analyst-1")
	claim, err := agent.DoAs(e.ctx, "analyst", subject.Claim, &pb.Command{Instance: name, Action: &pb.Command_Claim{
		Claim: &pb.Claim{Agent: "analyst-1", Work: in.GetInstance().GetWork(), LeaseMs: 60_000}}})
	if err == nil {
		_, err = agent.DoAs(e.ctx, "analyst", subject.Report, &pb.Command{Instance: name, Action: &pb.Command_Report{
			Report: &pb.Report{Token: claim.GetToken(), Result: wire.Result(instance.Result{
				Status: instance.Success, ConfidenceScore: 0.5, Questions: []string{"What does it say?"}})}}})
	}
	if err == nil {
		_, err = e.client.Override(e.ctx, name, "waiting_for_requirements_clarification", "as far")
	}
	if err != nil {
		t.Fatal(err)
	}
	e.edits(issue, "It says 5, and 2 and 2 are 4.")
	e.poll(p)
	if got := e.state(name); got != "requirements_clarified" {
		t.Errorf("it is in %s, told %q", got, e.notes(issue))
	}
}
