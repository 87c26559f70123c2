package client_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// env is a server, a client, and a connection that replies to it.
type env struct {
	*testing.T
	nc     *nats.Conn // the client's
	other  *nats.Conn
	client *client.Client
	ctx    context.Context
}

func newEnv(t *testing.T) *env {
	t.Helper()
	server := natstest.Start(t, natstest.Options{})
	e := &env{T: t, nc: server.Connect(t), other: server.Connect(t)}
	e.client = client.New(e.nc, "operator:test")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	e.ctx = ctx
	return e
}

// answers has the answers given one after the other, the last one for ever; nil
// is none. The requests are in the channel.
func answers[Q, A proto.Message](e *env, subject string, as ...A) <-chan Q {
	e.Helper()
	asked := make(chan Q, 100)
	n := 0
	sub, err := e.other.Subscribe(subject, func(m *nats.Msg) {
		var q Q
		q = q.ProtoReflect().New().Interface().(Q)
		kind := m.Header.Get("Content-Type") // of a command it goes without saying
		if err := proto.Unmarshal(m.Data, q); err != nil || kind != "application/protobuf" && (kind != "" || len(m.Data) == 0) {
			e.Errorf("%s was asked %q in %v: %v", subject, m.Data, m.Header, err)
		}
		asked <- q
		a := as[min(n, len(as)-1)]
		n++
		if !a.ProtoReflect().IsValid() {
			return
		}
		data, err := proto.Marshal(a)
		if err == nil {
			err = m.Respond(data)
		}
		if err != nil {
			e.Error(err)
		}
	})
	if err == nil {
		err = e.other.Flush()
	}
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = sub.Unsubscribe() })
	return asked
}

func unavailable() *pb.CommandReply {
	return &pb.CommandReply{Refusal: &pb.Refusal{Code: "unavailable", Message: "not now"}}
}

func TestACommandIsSentUnderOneIDUntilItIsAnswered(t *testing.T) {
	e := newEnv(t)
	asked := answers[*pb.Command](e, "sb.api.pause", unavailable(), unavailable(), &pb.CommandReply{Seq: 7})
	reply, err := e.client.Pause(e.ctx, "a", "r")
	if err != nil || reply.GetSeq() != 7 {
		t.Fatalf("answered %v, %v", reply, err)
	}
	first := <-asked
	for range 2 {
		if again := <-asked; !proto.Equal(first, again) {
			t.Errorf("sent %v, then %v", first, again)
		}
	}
	if first.GetId() == "" || first.GetActor() != "operator:test" || first.GetInstance() != "a" || first.GetPause().GetReason() != "r" {
		t.Errorf("sent %v", first)
	}
	if _, err := e.client.Pause(e.ctx, "a", "r"); err != nil {
		t.Fatal(err)
	}
	if next := <-asked; next.GetId() == first.GetId() {
		t.Error("another command has the same id")
	}
}

func TestANewcomerIsWaitedFor(t *testing.T) {
	e := newEnv(t)
	done := make(chan error, 1)
	go func() {
		_, err := e.client.Resume(e.ctx, "a", "r")
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("no orchestrator answers, and the command ended with %v", err)
	default:
	}
	answers[*pb.Command](e, "sb.api.resume", &pb.CommandReply{Seq: 1})
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestWhatIsGivenIsKept(t *testing.T) {
	e := newEnv(t)
	asked := answers[*pb.Command](e, "sb.api.signal", &pb.CommandReply{})
	given := &pb.Command{Instance: "a", Action: &pb.Command_Signal{Signal: &pb.Signal{Name: "commented"}}}
	if _, err := e.client.Do(e.ctx, "signal", given); err != nil {
		t.Fatal(err)
	}
	if given.GetId() != "" || given.GetActor() != "" {
		t.Errorf("the caller's command became %v", given)
	}
	<-asked
	if _, err := e.client.Signal(e.ctx, "a", "commented", "comment/7", "ann", map[string]string{"body": "b"}); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got.GetId() != "comment/7" || got.GetActor() != "ann" || got.GetSignal().GetRef() != "comment/7" ||
		got.GetSignal().GetData()["body"] != "b" {
		t.Errorf("sent %v", got)
	}
}

func TestARefusalIsAnError(t *testing.T) {
	e := newEnv(t)
	no := &pb.Refusal{Code: "held", Message: "bob holds it", Allowed: []string{"wait"}}
	answers[*pb.Command](e, "sb.api.agent.pm.claim", &pb.CommandReply{Refusal: no})
	answers[*pb.GetRequest](e, "sb.api.get", &pb.GetReply{Refusal: no})
	answers[*pb.ListRequest](e, "sb.api.list", &pb.ListReply{Refusal: no})
	answers[*pb.HistoryRequest](e, "sb.api.history", &pb.HistoryReply{Refusal: no})
	answers[*pb.DefinitionRequest](e, "sb.api.definition", &pb.DefinitionReply{Refusal: no})
	for name, ask := range map[string]func() error{
		"a command":    func() error { _, err := e.client.DoAs(e.ctx, "pm", "claim", &pb.Command{Instance: "a"}); return err },
		"get":          func() error { _, err := e.client.Get(e.ctx, "a"); return err },
		"list":         func() error { _, err := e.client.List(e.ctx, &pb.ListRequest{}); return err },
		"history":      func() error { _, err := e.client.History(e.ctx, "a", 0); return err },
		"a definition": func() error { _, err := e.client.Definition(e.ctx, "a"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			err := ask()
			got := new(instance.Refusal)
			if !errors.As(err, &got) || got.Code != instance.CodeHeld || got.What != "bob holds it" || !slices.Equal(got.Allowed, []string{"wait"}) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestNoAnswerWithinTheContextIsUnavailable(t *testing.T) {
	e := newEnv(t)
	for name, c := range map[string]struct {
		as  []*pb.CommandReply
		say string
	}{
		"when there is no responder": {nil, "no responders"},
		"when there is no reply":     {[]*pb.CommandReply{nil}, "sb.api.retry"},
		"when the answer is not now": {[]*pb.CommandReply{unavailable()}, "not now"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked <-chan *pb.Command
			if c.as != nil {
				asked = answers[*pb.Command](&env{T: t, other: e.other}, "sb.api.retry", c.as...)
			}
			ctx, cancel := context.WithCancel(e.ctx)
			done := make(chan error, 1)
			go func() {
				_, err := e.client.Retry(ctx, "a", "r")
				done <- err
			}()
			if asked != nil {
				<-asked
			}
			if c.say == "not now" {
				<-asked // so that the first was answered
			}
			if asked == nil {
				sub, err := e.nc.SubscribeSync("sb.api.nothing") // a round trip: it was asked once
				if err == nil {
					err = errors.Join(e.nc.Flush(), sub.Unsubscribe())
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			cancel()
			if err := <-done; !errors.Is(err, client.ErrUnavailable) || !errors.Is(err, context.Canceled) ||
				!strings.Contains(err.Error(), "sb.api.retry") && !strings.Contains(err.Error(), c.say) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestTheReasonOfAnOrchestratorIsKeptWhereLaterTriesHaveNone(t *testing.T) {
	e := newEnv(t)
	asked := answers[*pb.Command](e, "sb.api.retry", unavailable(), nil)
	ctx, cancel := context.WithCancel(e.ctx)
	done := make(chan error, 1)
	go func() {
		_, err := e.client.Retry(ctx, "a", "r")
		done <- err
	}()
	<-asked
	<-asked // it is asked again, and says nothing
	cancel()
	err := <-done
	if no := new(client.RefusedError); !errors.As(err, &no) || !strings.Contains(no.Reason, "not now") || !errors.Is(err, client.ErrUnavailable) {
		t.Errorf("the error is %v", err)
	}
}

func TestWhatCannotBeAskedEndsAtOnce(t *testing.T) {
	e := newEnv(t)
	answers[*pb.Command](e, "sb.api.note", &pb.CommandReply{})
	if _, err := e.client.Note(e.ctx, "a", "remark", strings.Repeat("x", 2<<20)); !errors.Is(err, nats.ErrMaxPayload) ||
		errors.Is(err, client.ErrUnavailable) {
		t.Errorf("too much: %v", err)
	}
	if _, err := e.client.DoAs(e.ctx, "no role", "claim", &pb.Command{}); err == nil {
		t.Error("a role there cannot be was taken")
	}
	if _, err := e.client.Do(e.ctx, ">", &pb.Command{}); err == nil {
		t.Error("a command there cannot be was taken")
	}
	sub, err := e.other.Subscribe("sb.api.get", func(m *nats.Msg) { _ = m.Respond([]byte("\xff\xff")) })
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := e.other.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.client.Get(e.ctx, "a"); err == nil || errors.Is(err, client.ErrUnavailable) {
		t.Errorf("noise as an answer: %v", err)
	}
	e.nc.Close()
	if _, err := e.client.Get(e.ctx, "a"); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("a closed connection: %v", err)
	}
}

func TestPagesAreReadToTheLast(t *testing.T) {
	e := newEnv(t)
	lists := answers[*pb.ListRequest](e, "sb.api.list",
		&pb.ListReply{Instances: []*pb.Summary{{Instance: "a"}, {Instance: "b"}}, Next: "b"},
		&pb.ListReply{Instances: []*pb.Summary{{Instance: "c"}}})
	all, err := e.client.List(e.ctx, &pb.ListRequest{Workflow: "issue", Limit: 2})
	if err != nil || len(all) != 3 || all[2].GetInstance() != "c" {
		t.Errorf("listed %v, %v", all, err)
	}
	for _, after := range []string{"", "b"} {
		if q := <-lists; q.GetAfter() != after || q.GetWorkflow() != "issue" || q.GetLimit() != 2 {
			t.Errorf("asked %v, want what comes behind %q", q, after)
		}
	}
	histories := answers[*pb.HistoryRequest](e, "sb.api.history",
		&pb.HistoryReply{Commits: []*pb.Record{{Seq: 4}, {Seq: 9}}, More: true}, &pb.HistoryReply{Commits: []*pb.Record{{Seq: 12}}})
	records, err := e.client.History(e.ctx, "a", 3)
	if err != nil || len(records) != 3 || records[2].GetSeq() != 12 {
		t.Errorf("the history is %v, %v", records, err)
	}
	for _, after := range []uint64{3, 9} {
		if q := <-histories; q.GetAfter() != after || q.GetInstance() != "a" {
			t.Errorf("asked %v, want what comes behind %d", q, after)
		}
	}
}
