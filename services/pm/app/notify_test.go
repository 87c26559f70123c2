package app

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/localforge"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// notifyEnv is an orchestrator and a PM that notifies people of endings.
type notifyEnv struct {
	*env
	ctx    context.Context
	server *natstest.Server
	client *client.Client
	js     jetstream.JetStream
}

func newNotifyEnv(t *testing.T) *notifyEnv {
	t.Helper()
	return newNotifyEnvIn(t, "")
}

// newNotifyEnvIn also has the lifecycles of a directory.
func newNotifyEnvIn(t *testing.T, lifecycles string) *notifyEnv {
	t.Helper()
	return newNotifyEnvOf(t, orchestratortest.Settings{WorkflowDir: lifecycles})
}

func newNotifyEnvOf(t *testing.T, settings orchestratortest.Settings) *notifyEnv {
	t.Helper()
	g := &notifyEnv{env: newEnv(t), server: natstest.Start(t, natstest.Options{})}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	g.ctx = ctx
	orchestratortest.Start(t, g.server.URL, 1, settings)
	g.client, g.js = client.New(g.server.Connect(t), "operator:ann"), g.server.JetStream(t)
	return g
}

// notifies runs notifyEnded until it is stopped.
func (g *notifyEnv) notifies() (stop func()) {
	g.Helper()
	nc := g.server.Connect(g.T)
	js, err := jetstream.New(nc)
	if err != nil {
		g.Fatal(err)
	}
	ctx, cancel := context.WithCancel(g.ctx)
	ended := make(chan error, 1)
	go func() { ended <- g.notifyEnded(ctx, &service.Host{NATS: nc, Name: "pm-1"}, js) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			g.Error(err)
		}
	}
}

// ends opens an instance and has it end in a state.
func (g *notifyEnv) ends(id, state, reason string, issue *pb.Issue) {
	g.Helper()
	_, err := g.client.Do(g.ctx, "open", &pb.Command{Instance: id, Action: &pb.Command_Open{Open: &pb.Open{Workflow: "issue", Issue: issue}}})
	if err == nil {
		_, err = g.client.Override(g.ctx, id, state, reason)
	}
	if err != nil {
		g.Fatal(err)
	}
}

// told waits until nothing is left to be told of.
func (g *notifyEnv) told() {
	g.Helper()
	if err := natstest.Drained(g.ctx, g.js, subject.EventStream, subject.Endings); err != nil {
		g.Fatal(err)
	}
}

func TestPeopleHearOnceHowItEnded(t *testing.T) {
	g := newNotifyEnv(t)
	issue := wire.Issue(g.issue)
	stop := g.notifies()
	g.ends("acme/widgets/1", "failed", "the budget is spent", issue)
	g.ends("on no forge", "failed", "r", &pb.Issue{Title: "x"})
	g.told()
	if _, err := g.client.Note(g.ctx, "acme/widgets/1", "remark", "delivered again, to the same end"); err != nil {
		t.Fatal(err)
	}
	g.told()
	stop()
	g.restart()
	defer g.notifies()()
	if _, err := g.client.Note(g.ctx, "acme/widgets/1", "remark", "and to another PM"); err != nil {
		t.Fatal(err)
	}
	g.told()
	if said := g.said(); len(said) != 1 || !strings.Contains(said[0].Body, "budget is spent") || said[0].Author.Login != "signalbox" {
		t.Errorf("said is %+v", said)
	}
}

func TestAnEndingWaitsForAForgeThatIsAway(t *testing.T) {
	g := newNotifyEnv(t)
	g.forge.FailRequests("POST", "/comments", localforge.Fault{After: true}) // and the comment is made all the same
	defer g.notifies()()
	g.ends("acme/widgets/1", "requires_human_intervention", "nobody knows", wire.Issue(g.issue))
	for len(g.said()) == 0 {
		if g.ctx.Err() != nil {
			t.Fatal("nothing is said")
		}
	}
	g.forge.Recover()
	g.told()
	if said := g.said(); len(said) != 1 || !strings.Contains(said[0].Body, "nobody knows") {
		t.Errorf("said is %+v", said)
	}
}

func TestACommentThatTheForgeRefusesStaysOwedHoweverOftenItIsTried(t *testing.T) {
	g := newNotifyEnvOf(t, orchestratortest.Settings{MaxDeliver: 1}) // work is a dead letter after its first try
	tries := make(chan struct{}, 100)
	g.forge.Fail(func(r *http.Request) *localforge.Fault {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/comments") {
			return nil
		}
		tries <- struct{}{}
		return &localforge.Fault{Status: http.StatusForbidden}
	})
	defer g.notifies()()
	g.ends("acme/widgets/1", "failed", "the budget is spent", wire.Issue(g.issue))
	<-tries
	g.forge.Recover()
	g.told()
	if said := g.said(); len(said) != 1 || !strings.Contains(said[0].Body, "budget is spent") {
		t.Errorf("said is %+v", said)
	}
	dead, err := g.js.Stream(g.ctx, "DEAD")
	if err != nil || dead.CachedInfo().State.Msgs != 0 {
		t.Errorf("the dead letters are %+v, %v", dead, err)
	}
}

func TestAnOwedCommentIsTriedEverMoreSlowlyAndAtLeastOnceADay(t *testing.T) {
	for tries, want := range map[uint64]time.Duration{1: 5 * time.Second, 2: 10 * time.Second, 7: 320 * time.Second, 14: 40960 * time.Second, 16: 24 * time.Hour, 999: 24 * time.Hour} {
		if got := later(delivered{tries: tries}, owedAfter); got != want {
			t.Errorf("after %d tries the next one is after %v, want %v", tries, got, want)
		}
		if got := later(delivered{tries: tries}, retryAfter); got != min(want, 5*time.Minute) {
			t.Errorf("after %d failures the next try is after %v", tries, got)
		}
	}
}

// delivered is a message that was delivered some times.
type delivered struct {
	jetstream.Msg
	tries uint64
}

func (d delivered) Metadata() (*jetstream.MsgMetadata, error) {
	return &jetstream.MsgMetadata{NumDelivered: d.tries}, nil
}

func TestAPullRequestNeedsNoEnding(t *testing.T) {
	g := newNotifyEnv(t)
	id := "acme/widgets/1"
	opened, err := g.client.Do(g.ctx, "open", &pb.Command{Instance: id, Action: &pb.Command_Open{Open: &pb.Open{Workflow: "issue", Issue: wire.Issue(g.issue)}}})
	if err != nil {
		t.Fatal(err)
	}
	work := opened.GetInstance().GetWork()
	claimed, err := g.client.DoAs(g.ctx, "pm", "claim", &pb.Command{Instance: id, Action: &pb.Command_Claim{Claim: &pb.Claim{Agent: "pm-1", Work: work, LeaseMs: 60_000}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.client.DoAs(g.ctx, "pm", "report", &pb.Command{Instance: id, Action: &pb.Command_Report{Report: &pb.Report{
		Token: claimed.GetToken(), Result: &pb.Result{Status: "success", ConfidenceScore: 1, Data: map[string]string{"pr_url": "https://forge/2"}}}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.client.Override(g.ctx, id, "completed", "it is"); err != nil {
		t.Fatal(err)
	}
	stop := g.notifies()
	g.told()
	stop()
	if said := g.said(); len(said) != 0 {
		t.Errorf("said is %+v", said)
	}
}
