package app

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// pulls is a gateway that has just started, as far as it watches pull requests.
func (w *env) pulls() *pulls {
	w.Helper()
	return &pulls{
		forge: w.forge.Client("signalbox"), client: client.New(w.server.Connect(w.T), "gateway"), cursors: cursors{w.kv}, repo: widgets,
		now: func() time.Time { return time.Date(2026, 1, 2, 9, 0, int(w.second.Load()), 0, time.UTC) }, log: slog.New(slog.DiscardHandler),
	}
}

// propose opens a pull request of ann's and a story that it is of.
func (w *env) propose(name string) (number int, story string) {
	w.Helper()
	url := w.forge.URL
	g := git.New(w.TempDir()).WithIdentity("ann", "ann@example.com").WithToken(url, "ann-token")
	gittest.Run(w.T, g, "clone", "-q", url+"/"+widgets+".git", ".")
	gittest.Run(w.T, g, "checkout", "-q", "-b", name)
	gittest.Run(w.T, g, "commit", "-q", "--allow-empty", "-m", name)
	gittest.Run(w.T, g, "push", "-q", "origin", name)
	repo, err := w.ann.Repository(w.ctx, widgets)
	if err != nil {
		w.Fatal(err)
	}
	pr, err := w.ann.CreatePullRequest(w.ctx, widgets, forge.NewPullRequest{Title: name, Head: name, Base: repo.DefaultBranch})
	if err != nil {
		w.Fatal(err)
	}
	story = "story/" + name
	if _, err := w.client.OpenWith(w.ctx, "", story, &pb.Open{
		Workflow: "story", State: "pushed", Issue: wire.Issue(instance.Issue{Repo: widgets, Title: name}), Vars: map[string]string{"prNumber": fmt.Sprint(pr.Number)},
	}); err != nil {
		w.Fatal(err)
	}
	return pr.Number, story
}

// signals are the names of what the story was told, in order.
func (w *env) signals(story string) (all []string) {
	w.Helper()
	records, err := w.client.History(w.ctx, story, 0)
	if err != nil {
		w.Fatal(err)
	}
	for _, r := range records {
		for _, e := range r.GetCommit().GetEvents() {
			if s := e.GetSignalled(); s != nil {
				all = append(all, s.GetName()+" by "+s.GetActor())
			}
		}
	}
	return all
}

func (w *env) watches(p *pulls) {
	w.Helper()
	if err := p.poll(w.ctx); err != nil {
		w.Fatal(err)
	}
}

func (w *env) told(story string, want ...string) {
	w.Helper()
	if got := w.signals(story); !slices.Equal(got, want) {
		w.Errorf("%s was told %q, want %q", story, got, want)
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
	if in, err := w.client.Get(w.ctx, story); err != nil || !in.GetEscalations()[0].GetResolved() || in.GetEscalations()[0].GetResolution() != "Go on." {
		t.Errorf("the escalation is %v, %v", in.GetEscalations(), err)
	}
	w.second.Add(1)
	w.say(w.ann, number, "Thanks.")
	w.watches(p)
	w.told(story, "changed by gateway", "changed by gateway", "commented by bob", "commented by ann", "changed by gateway")
}

// escalates has the story's shepherd put it to people.
func (w *env) escalates(story string) {
	w.Helper()
	in, err := w.client.Get(w.ctx, story)
	if err != nil {
		w.Fatal(err)
	}
	agent := client.New(w.server.Connect(w.T), "shepherd-1")
	claim, err := agent.DoAs(w.ctx, "shepherd", subject.Claim, &pb.Command{Instance: story, Action: &pb.Command_Claim{
		Claim: &pb.Claim{Agent: "shepherd-1", Work: in.GetWork(), LeaseMs: 60_000}}})
	if err == nil {
		_, err = agent.DoAs(w.ctx, "shepherd", subject.Escalate, &pb.Command{Instance: story, Action: &pb.Command_Escalate{
			Escalate: &pb.Escalate{Token: claim.GetToken(), Reason: "what now?", RequiresHuman: true}}})
	}
	if err != nil {
		w.Fatal(err)
	}
}

// catchesUp has the forge's clock be later than that of the log, which is real.
func (w *env) catchesUp() {
	w.second.Store(time.Now().Unix() - time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC).Unix() + 60)
}

func TestAStoryThatWaitsForPeopleHearsThemOnItsIssue(t *testing.T) {
	w := newEnv(t)
	issue := w.report(w.bob, "It is broken")
	story := "story/of-an-issue"
	if _, err := w.client.OpenWith(w.ctx, "", story, &pb.Open{
		Workflow: "story", State: "pushed", Issue: wire.Issue(instance.Issue{Repo: widgets, Number: issue, Title: "x"}), Vars: map[string]string{"prNumber": "99"},
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
