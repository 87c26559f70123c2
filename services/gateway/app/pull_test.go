package app

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// pulls is a gateway that has just started, as far as it watches pull requests.
func (e *env) pulls() *pulls {
	e.Helper()
	c := e.forge.Client("signalbox")
	return &pulls{
		permissions: &permissions{forge: c, repo: widgets, now: time.Now},
		forge:       c, client: client.New(e.server.Connect(e.T), "gateway"), cursors: cursors{e.kv}, repo: widgets,
		now: func() time.Time { return time.Date(2026, 1, 2, 9, 0, int(e.second.Load()), 0, time.UTC) }, log: slog.New(slog.DiscardHandler),
	}
}

// propose opens a pull request of ann's and a story that it is of.
func (e *env) propose(name string) (number int, story string) {
	e.Helper()
	url := e.forge.URL
	g := git.New(e.TempDir()).WithIdentity("ann", "ann@example.com").WithToken(url, "ann-token")
	gittest.Run(e.T, g, "clone", "-q", url+"/"+widgets+".git", ".")
	gittest.Run(e.T, g, "checkout", "-q", "-b", name)
	gittest.Run(e.T, g, "commit", "-q", "--allow-empty", "-m", name)
	gittest.Run(e.T, g, "push", "-q", "origin", name)
	repo, err := e.ann.Repository(e.ctx, widgets)
	if err != nil {
		e.Fatal(err)
	}
	pr, err := e.ann.CreatePullRequest(e.ctx, widgets, forge.NewPullRequest{Title: name, Head: name, Base: repo.DefaultBranch})
	if err != nil {
		e.Fatal(err)
	}
	story = "story/" + name
	if _, err := e.client.OpenWith(e.ctx, "", story, &pb.Open{
		Workflow: "story", State: "pushed", Issue: wire.Issue(instance.Issue{Repo: widgets, Title: name}),
		Vars: map[string]string{"prNumber": fmt.Sprint(pr.Number)},
	}); err != nil {
		e.Fatal(err)
	}
	return pr.Number, story
}

// pushes adds a commit of ann's to a branch.
func (e *env) pushes(branch string) {
	e.Helper()
	g := git.New(e.TempDir()).WithIdentity("ann", "ann@example.com").WithToken(e.forge.URL, "ann-token")
	gittest.Run(e.T, g, "clone", "-q", "--branch", branch, e.forge.URL+"/"+widgets+".git", ".")
	gittest.Run(e.T, g, "commit", "-q", "--allow-empty", "-m", "more")
	gittest.Run(e.T, g, "push", "-q", "origin", branch)
}

// signals are the names of what the story was told, in order.
func (e *env) signals(story string) (all []string) {
	e.Helper()
	records, err := e.client.History(e.ctx, story, 0)
	if err != nil {
		e.Fatal(err)
	}
	for _, r := range records {
		for _, ev := range r.GetCommit().GetEvents() {
			if s := ev.GetSignalled(); s != nil {
				all = append(all, s.GetName()+" by "+s.GetActor())
			}
		}
	}
	return all
}

func (e *env) watches(p *pulls) {
	e.Helper()
	if err := p.poll(e.ctx); err != nil {
		e.Fatal(err)
	}
}

func (e *env) told(story string, want ...string) {
	e.Helper()
	if got := e.signals(story); !slices.Equal(got, want) {
		e.Errorf("%s was told %q, want %q", story, got, want)
	}
}

func TestAStoryIsToldOnceOfEachChangeOfItsPullRequest(t *testing.T) {
	w := newEnv(t)
	first, story := w.propose("first")
	_, other := w.propose("other")
	p := w.pulls()
	w.watches(p)
	w.watches(p)
	w.told(story, "changed by gateway")
	w.told(other, "changed by gateway")
	w.second.Add(1)
	w.say(w.bob, first, "I like it.")
	w.watches(p)
	w.watches(w.pulls()) // another one, which goes on where this one was
	w.told(story, "changed by gateway", "changed by gateway")
	w.told(other, "changed by gateway")
	w.second.Add(1)
	w.say(w.bob, w.report(w.bob, "an issue"), "is none")
	w.watches(p)
	w.told(story, "changed by gateway", "changed by gateway")
}

// finds has the shepherd find an outcome of the only open story. It returns the state of the story then.
func (e *env) finds(story, outcome string) string {
	e.Helper()
	in, err := e.client.Get(e.ctx, story)
	if err != nil {
		e.Fatal(err)
	}
	agent := client.New(e.server.Connect(e.T), "shepherd-1")
	reply, err := agent.DoAs(e.ctx, "shepherd", subject.Claim, &pb.Command{Instance: story, Action: &pb.Command_Claim{
		Claim: &pb.Claim{Agent: "shepherd-1", Work: in.GetWork(), LeaseMs: 60_000}}})
	if err == nil {
		reply, err = agent.DoAs(e.ctx, "shepherd", subject.Report, &pb.Command{Instance: story, Action: &pb.Command_Report{
			Report: &pb.Report{Token: reply.GetToken(), Result: wire.Result(instance.Result{
				Status: instance.Success, ConfidenceScore: 1, Data: map[string]string{"outcome": outcome}})}}})
	}
	if err != nil {
		e.Fatal(err)
	}
	return reply.GetInstance().GetState()
}

// turns closes or opens a pull request.
func (e *env) turns(number int, state string) {
	e.Helper()
	e.second.Add(1)
	e.request(http.MethodPatch, fmt.Sprintf("/pulls/%d", number), fmt.Sprintf(`{"state": %q}`, state))
}

func TestAStoryGoesOnWhenItsPullRequestIsOpenedAgain(t *testing.T) {
	w := newEnv(t)
	number, story := w.propose("first")
	p := w.pulls()
	w.watches(p)
	for range 2 { // as often as people do
		w.turns(number, "closed")
		w.watches(p)
		if got := w.finds(story, "closed"); got != "invalid" {
			t.Fatalf("once its pull request was closed it is in %s", got)
		}
		w.turns(number, "open")
		w.watches(p)
		w.watches(w.pulls()) // another one
		if got := w.state(story); got != "pushed" {
			t.Fatalf("once its pull request was opened again it is in %s", got)
		}
	}
}

func TestAStoryThatEndedForAnotherReasonStaysEndedWhenItsPullRequestIsOpenedAgain(t *testing.T) {
	w := newEnv(t)
	number, story := w.propose("first")
	p := w.pulls()
	w.watches(p)
	w.finds(story, "elsewhere")
	w.turns(number, "closed")
	w.watches(p)
	w.turns(number, "open")
	w.watches(p)
	if got := w.state(story); got != "invalidended" {
		t.Errorf("what is done elsewhere is in %s", got)
	}
}

// state is a story's state, and how it ended.
func (e *env) state(story string) string {
	e.Helper()
	in, err := e.client.Get(e.ctx, story)
	if err != nil {
		e.Fatal(err)
	}
	return in.GetState() + in.GetClosed()
}

func TestWhatWasToldBeforeACrashIsNotToldAgain(t *testing.T) {
	w := newEnv(t)
	_, story := w.propose("first")
	w.watches(w.pulls())
	if err := w.kv.Purge(w.ctx, key(widgets+"/pulls")); err != nil { // the cursor was not saved
		t.Fatal(err)
	}
	w.watches(w.pulls())
	w.told(story, "changed by gateway")
}

func TestAStoryThatWaitsForPeopleHearsThemOnItsPullRequest(t *testing.T) {
	w := newEnv(t)
	number, story := w.propose("first")
	p := w.pulls()
	w.say(w.ann, number, "Before anybody asked.")
	w.watches(p)
	w.escalates(story)
	w.catchesUp()
	w.say(w.robot, number, "Coverage is 95 %.")
	w.say(w.bob, number, "I may not say.")
	w.say(w.ann, number, "Go on.")
	w.watches(p)
	w.told(story, "changed by gateway", "changed by gateway", "commented by bob", "commented by ann")
	if in, err := w.client.Get(w.ctx, story); err != nil || !in.GetEscalations()[0].GetResolved() ||
		in.GetEscalations()[0].GetResolution() != "Go on." {
		t.Errorf("the escalation is %v, %v", in.GetEscalations(), err)
	}
	w.second.Add(1)
	w.say(w.ann, number, "Thanks.")
	w.watches(p)
	w.told(story, "changed by gateway", "changed by gateway", "commented by bob", "commented by ann", "changed by gateway")
}

// escalates has the story's shepherd put it to people.
func (e *env) escalates(story string) {
	e.Helper()
	in, err := e.client.Get(e.ctx, story)
	if err != nil {
		e.Fatal(err)
	}
	agent := client.New(e.server.Connect(e.T), "shepherd-1")
	claim, err := agent.DoAs(e.ctx, "shepherd", subject.Claim, &pb.Command{Instance: story, Action: &pb.Command_Claim{
		Claim: &pb.Claim{Agent: "shepherd-1", Work: in.GetWork(), LeaseMs: 60_000}}})
	if err == nil {
		_, err = agent.DoAs(e.ctx, "shepherd", subject.Escalate, &pb.Command{Instance: story, Action: &pb.Command_Escalate{
			Escalate: &pb.Escalate{Token: claim.GetToken(), Reason: "what now?", RequiresHuman: true}}})
	}
	if err != nil {
		e.Fatal(err)
	}
}

// catchesUp has the forge's clock be later than that of the log, which is real.
func (e *env) catchesUp() {
	e.second.Store(time.Now().Unix() - time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC).Unix() + 60)
}

func TestAStoryThatWaitsForPeopleHearsThemOnItsIssue(t *testing.T) {
	w := newEnv(t)
	issue := w.report(w.bob, "It is broken")
	story := "story/of-an-issue"
	if _, err := w.client.OpenWith(w.ctx, "", story, &pb.Open{
		Workflow: "story", State: "pushed", Issue: wire.Issue(instance.Issue{Repo: widgets, Number: issue, Title: "x"}),
		Vars: map[string]string{"prNumber": "99"},
	}); err != nil {
		t.Fatal(err)
	}
	p := w.poller()
	w.say(w.ann, issue, "Before anybody asked.")
	w.poll(p)
	w.escalates(story)
	w.catchesUp()
	w.say(w.ann, issue, "Go on.")
	w.poll(p)
	w.poll(p)
	w.told(story, "commented by ann")
	w.want(issue, "ann: Before anybody asked.", "ann: Go on.")
}
