package api_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/api"
)

// batch sends commands of the role together and returns their answers by place.
func (e *env) batch(role string, commands ...*pb.Command) map[uint32]*pb.CommandReply {
	e.Helper()
	return e.batchOf(role, &pb.Batch{Commands: commands})
}

func (e *env) batchOf(role string, batch *pb.Batch) map[uint32]*pb.CommandReply {
	e.Helper()
	commands := batch.GetCommands()
	data, err := proto.Marshal(batch)
	if err != nil {
		e.Fatal(err)
	}
	sub, err := e.nc.SubscribeSync(e.nc.NewInbox())
	if err != nil {
		e.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := e.nc.PublishRequest("sb.api.agent."+role+".batch", sub.Subject, data); err != nil {
		e.Fatal(err)
	}
	all := map[uint32]*pb.CommandReply{}
	for len(all) < len(commands) {
		msg, err := sub.NextMsg(time.Minute)
		if err != nil {
			e.Fatalf("%d of %d were answered: %v", len(all), len(commands), err)
		}
		reply := new(pb.BatchReply)
		if err := proto.Unmarshal(msg.Data, reply); err != nil || len(reply.Answers) == 0 {
			e.Fatalf("answered %v %.200q (%v)", msg.Header, msg.Data, err)
		}
		for _, a := range reply.Answers {
			if all[a.Number] != nil {
				e.Errorf("command %d was answered twice", a.Number)
			}
			all[a.Number] = a.Reply
		}
	}
	return all
}

func claim(id string, work uint64) *pb.Command {
	return &pb.Command{Id: "claim-" + id, Instance: id, Actor: "a",
		Action: &pb.Command_Claim{Claim: &pb.Claim{Agent: "a", Work: work, LeaseMs: 60_000}}}
}

func TestTheCommandsOfABatchAreAnsweredOneByOne(t *testing.T) {
	e := newEnv(t, nil)
	const n = 40
	var commands []*pb.Command
	for i := range n {
		commands = append(commands, claim(id(i), e.open(id(i)).GetSeq()))
	}
	commands = append(commands, claim("nowhere", 1), &pb.Command{Instance: id(0), Action: &pb.Command_Pause{Pause: &pb.Pause{}}},
		&pb.Command{}, claim("", 1))
	got := e.batch("pm", commands...)
	for i := range n {
		reply := got[uint32(i)]
		if reply.GetToken() != 1 || reply.GetInstance().GetInstance() != id(i) || reply.GetTask() == nil {
			t.Errorf("the claim of %s was answered %v", id(i), reply)
		}
	}
	for i, code := range []instance.Code{instance.CodeUnknownInstance, instance.CodeInvalid, instance.CodeInvalid, instance.CodeInvalid} {
		if no := got[uint32(n+i)].GetRefusal(); no.GetCode() != string(code) || no.GetMessage() == "" {
			t.Errorf("%v was answered %v, want %s", commands[n+i], got[uint32(n+i)], code)
		}
	}
	e.unchanged(func() {
		for i, reply := range e.batch("pm", commands[:n]...) {
			if !reply.GetDuplicate() || reply.GetSeq() != got[i].GetSeq() {
				t.Errorf("the same once more was answered %v, want it to be the same", reply)
			}
		}
		others := claim(id(0), got[0].GetInstance().GetWork())
		others.Id = ""
		for _, reply := range e.batch("tester", others) { // the subject names the role
			if reply.GetRefusal() == nil {
				t.Errorf("another role's claim was answered %v", reply)
			}
		}
	})
}

func TestAnswersThatFitNoMessageComeInSeveral(t *testing.T) {
	e := newEnv(t, nil)
	var commands []*pb.Command
	for i := range 8 {
		_, err := e.client.Open(t.Context(), "", "issue", id(i), instance.Issue{Title: "t", Body: strings.Repeat("long ", 50_000)})
		if err != nil {
			t.Fatal(err)
		}
		in, err := e.client.Get(t.Context(), id(i))
		if err != nil {
			t.Fatal(err)
		}
		commands = append(commands, claim(id(i), in.GetWork()))
	}
	for i, reply := range e.batch("pm", commands...) {
		if len(reply.GetInstance().GetIssue().GetBody()) != 250_000 {
			t.Errorf("claim %d was answered %.200v", i, reply)
		}
	}
}

func TestWhatIsNoBatchIsRefused(t *testing.T) {
	e := newEnv(t, nil)
	for _, data := range []string{"", "{}", `{"commands":[]}`, "\x0a\x05ab"} {
		e.unchanged(func() {
			got := e.ask("sb.api.agent.pm.batch", "", []byte(data))
			if got.Header.Get("Nats-Service-Error-Code") != "400" {
				t.Errorf("%q was answered %v %q", data, got.Header, got.Data)
			}
		})
	}
}

func TestABatchAtAServerThatIsClosedIsToBeAskedAgain(t *testing.T) {
	e := newEnv(t, nil)
	seq := e.open(id(0)).GetSeq()
	sub, err := e.nc.SubscribeSync(e.nc.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.server.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := proto.Marshal(&pb.Batch{Commands: []*pb.Command{claim(id(0), seq)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.nc.PublishRequest("sb.api.agent.pm.batch", sub.Subject, data); err != nil {
		t.Fatal(err)
	}
	msg, err := sub.NextMsg(time.Minute)
	if errors.Is(err, nats.ErrNoResponders) { // the server knows that there is no responder any more
		return
	}
	reply := new(pb.BatchReply)
	if err := errors.Join(err, proto.Unmarshal(msg.Data, reply)); err != nil {
		t.Fatal(err)
	}
	if a := reply.GetAnswers(); len(a) != 1 || a[0].GetReply().GetRefusal().GetCode() != api.CodeUnavailable {
		t.Errorf("answered %v, want that it is not available", reply)
	}
}

func TestASlowCommandOfABatchDelaysNoOther(t *testing.T) {
	store := &slow{memory.New(), make(chan struct{}, 1), make(chan struct{})}
	e := newEnv(t, store)
	inbox, err := e.nc.SubscribeSync(e.nc.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan *pb.CommandReply, 1)
	go func() { opened <- e.open("a") }()
	<-store.entered
	store.leave <- struct{}{}
	seq := (<-opened).GetSeq()
	data, err := proto.Marshal(&pb.Batch{Commands: []*pb.Command{claim("a", seq), claim("nowhere", 1)}})
	if err == nil {
		err = e.nc.PublishRequest("sb.api.agent.pm.batch", inbox.Subject, data)
	}
	if err != nil {
		t.Fatal(err)
	}
	reply := func() *pb.BatchReply {
		t.Helper()
		msg, err := inbox.NextMsg(time.Minute)
		reply := new(pb.BatchReply)
		if err := errors.Join(err, proto.Unmarshal(msg.Data, reply)); err != nil {
			t.Fatal(err)
		}
		return reply
	}
	<-store.entered // the claim is being appended
	if a := reply().GetAnswers(); len(a) != 1 || a[0].GetNumber() != 1 ||
		a[0].GetReply().GetRefusal().GetCode() != string(instance.CodeUnknownInstance) {
		t.Errorf("the first reply is %v", a)
	}
	store.leave <- struct{}{}
	if a := reply().GetAnswers(); len(a) != 1 || a[0].GetNumber() != 0 || a[0].GetReply().GetToken() != 1 {
		t.Errorf("the second reply is %v", a)
	}
}
