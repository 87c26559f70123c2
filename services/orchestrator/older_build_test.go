package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

// pingpong is the lifecycle of the recorded instance.
const pingpong = `
workflow: pingpong
version: 1
initial: ping
states:
  ping: {owner: player, next: [pong], decide: [{to: pong}]}
  pong: {owner: player, next: [again], decide: [{to: again}]}
  again: {owner: player, next: [done], decide: [{to: done}]}
  done: {final: true}
`

// recorded is testdata/older_build.json: what an agent and an orchestrator of commit 42d5950 sent each
// other. That agent's batch with a claim asks for provisional replies (Batch.promises), which are gone.
type recorded struct {
	Requests []exchange                 `json:"requests"`
	Results  map[string]json.RawMessage `json:"results"` // CommandReply by command id, as the agent's client returned it
}

// exchange is one request of the agent, and the orchestrator's replies where none is provisional.
type exchange struct {
	Subject string      `json:"subject"`
	Header  nats.Header `json:"header"`
	Data    []byte      `json:"data"`
	Replies [][]byte    `json:"replies"`
}

func readRecorded(t *testing.T) (recorded, map[string]*pb.CommandReply) {
	t.Helper()
	data, err := os.ReadFile("testdata/older_build.json")
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	results := map[string]*pb.CommandReply{}
	for id, data := range r.Results {
		results[id] = new(pb.CommandReply)
		if err := protojson.Unmarshal(data, results[id]); err != nil {
			t.Fatal(err)
		}
	}
	for n := range idleClaims {
		results[fmt.Sprintf("idle-%d", n)] = &pb.CommandReply{Refusal: &pb.Refusal{Code: "no_work", Message: "no work came"}}
	}
	return r, results
}

// commands returns the commands of a request.
func commands(t *testing.T, subject string, data []byte) []*pb.Command {
	t.Helper()
	batch := new(pb.Batch)
	if !strings.HasSuffix(subject, ".batch") {
		batch.Commands = []*pb.Command{new(pb.Command)}
		if err := proto.Unmarshal(data, batch.Commands[0]); err != nil {
			t.Fatal(err)
		}
	} else if err := proto.Unmarshal(data, batch); err != nil {
		t.Fatal(err)
	}
	return batch.Commands
}

// ids returns the sorted ids of commands.
func ids(all []*pb.Command) string {
	var out []string
	for _, c := range all {
		out = append(out, c.GetId())
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// timeless sets what differs from run to run to the same value: times, durations, definition hashes.
func timeless(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil || f.IsMap():
			if f.Name() == "definition" {
				m.Set(f, protoreflect.ValueOfString("hash"))
			}
		case f.IsList():
			for i := range v.List().Len() {
				timeless(v.List().Get(i).Message())
			}
		case f.Message().FullName() == "google.protobuf.Timestamp", f.Message().FullName() == "google.protobuf.Duration":
			m.Set(f, protoreflect.ValueOfMessage(v.Message().New()))
		default:
			timeless(v.Message())
		}
		return true
	})
}

func equal(t *testing.T, id string, got, want *pb.CommandReply) {
	t.Helper()
	got, want = proto.CloneOf(got), proto.CloneOf(want)
	timeless(got.ProtoReflect())
	timeless(want.ProtoReflect())
	if got.Task != nil {
		got.Task.Work = nil // the older build does not know it
	}
	if strings.HasSuffix(id, "-in-batch") { // the commands of a batch are appended in any order
		for _, reply := range []*pb.CommandReply{got, want} {
			reply.Seq, reply.Instance.Seq = 0, 0
		}
	}
	if !proto.Equal(got, want) {
		t.Errorf("the reply to %s is\n%v, want\n%v", id, got, want)
	}
}

func TestAnAgentOfAnOlderBuildIsAnsweredAsByItsOwnOrchestrator(t *testing.T) {
	r, want := readRecorded(t)
	server := natstest.Start(t, natstest.Options{})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pingpong.yaml"), []byte(pingpong), 0o644); err != nil {
		t.Fatal(err)
	}
	orchestratortest.Start(t, server.URL, 1, app.Settings{WorkflowDir: dir, AckWait: time.Minute})
	nc := server.Connect(t)
	for _, q := range r.Requests {
		sent := commands(t, q.Subject, q.Data)
		got := map[string]*pb.CommandReply{}
		inbox, err := nc.SubscribeSync(nc.NewInbox())
		if err == nil {
			err = nc.PublishMsg(&nats.Msg{Subject: q.Subject, Header: q.Header, Reply: inbox.Subject, Data: q.Data})
		}
		for err == nil && len(got) < len(sent) {
			var msg *nats.Msg
			if msg, err = inbox.NextMsg(time.Minute); err != nil {
				break
			}
			reply, batch := new(pb.CommandReply), new(pb.BatchReply)
			if !strings.HasSuffix(q.Subject, ".batch") {
				err, got[sent[0].GetId()] = proto.Unmarshal(msg.Data, reply), reply
				continue
			}
			err = proto.Unmarshal(msg.Data, batch)
			for _, a := range batch.GetAnswers() {
				got[sent[a.GetNumber()].GetId()] = a.GetReply()
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", q.Subject, err)
		}
		for id, reply := range got {
			equal(t, id, reply, want[id])
		}
	}
}

// idleClaims is how many claims have to wait so that a client batches the commands given meanwhile.
const idleClaims = 4

// olderOrchestrator replies to the recorded requests, once to each.
type olderOrchestrator struct {
	*testing.T
	recorded
	nc    *nats.Conn
	waits chan struct{} // a claim that waits has come
	mu    sync.Mutex
	held  []func() // replies to claims that wait, until a batch without any comes
}

func (o *olderOrchestrator) reply(m *nats.Msg) {
	o.mu.Lock()
	defer o.mu.Unlock()
	got := commands(o.T, m.Subject, m.Data)
	i := slices.IndexFunc(o.Requests, func(q exchange) bool {
		return q.Subject == m.Subject && ids(commands(o.T, q.Subject, q.Data)) == ids(got)
	})
	if i < 0 {
		o.Errorf("%s of %v was not recorded", m.Subject, got)
		return
	}
	q := o.Requests[i]
	o.Requests = slices.Delete(o.Requests, i, i+1)
	want := commands(o.T, q.Subject, q.Data)
	place := map[string]int{} // of a command among those that were sent
	for i, c := range got {
		place[c.GetId()] = i
	}
	for _, c := range want {
		if !proto.Equal(got[place[c.GetId()]], c) || len(m.Header) != len(q.Header) {
			o.Errorf("%s has %v, want %v", m.Subject, got, c)
		}
	}
	send := func() {
		for _, data := range q.Replies {
			if err := m.Respond(renumber(o.T, data, want, place)); err != nil {
				o.Error(err)
			}
		}
	}
	if strings.Contains(m.Subject, ".idle.") {
		o.held = append(o.held, send)
		o.waits <- struct{}{}
		return
	}
	send()
	for _, f := range o.held {
		f()
	}
	o.held = nil
}

// renumber changes the places in a BatchReply, if the commands were recorded in another order than sent.
func renumber(t *testing.T, data []byte, want []*pb.Command, place map[string]int) []byte {
	t.Helper()
	if len(want) == 1 || place[want[0].GetId()] == 0 {
		return data
	}
	batch := new(pb.BatchReply)
	if err := proto.Unmarshal(data, batch); err != nil {
		t.Error(err)
	}
	for _, a := range batch.Answers {
		a.Number = uint32(place[want[a.Number].GetId()])
	}
	data, err := proto.Marshal(batch)
	if err != nil {
		t.Error(err)
	}
	return data
}

func TestAnAgentUnderstandsAnOrchestratorOfAnOlderBuild(t *testing.T) {
	r, want := readRecorded(t)
	server := natstest.Start(t, natstest.Options{})
	older := &olderOrchestrator{T: t, recorded: r, nc: server.Connect(t), waits: make(chan struct{}, idleClaims)}
	if _, err := older.nc.Subscribe("sb.api.>", older.reply); err != nil {
		t.Fatal(err)
	}
	if err := older.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const one = "acme/widgets/1"
	c := client.New(server.Connect(t), "player-1")
	var mu sync.Mutex
	check := func(id string, reply *pb.CommandReply, err error) *pb.CommandReply {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if no := want[id].GetRefusal(); no != nil {
			if err == nil || !strings.Contains(err.Error(), no.GetMessage()) {
				t.Errorf("%s: %v, want %v", id, err, no)
			}
		} else if err != nil {
			t.Errorf("%s: %v", id, err)
		} else {
			equal(t, id, reply, want[id])
		}
		delete(want, id)
		return reply
	}
	do := func(role, name, id, instance string, cmd *pb.Command) *pb.CommandReply {
		t.Helper()
		cmd.Id, cmd.Instance = id, instance
		reply, err := c.DoAs(ctx, role, name, cmd)
		return check(id, reply, err)
	}
	heartbeat := func(token uint32) *pb.Command {
		return &pb.Command{Action: &pb.Command_Heartbeat{Heartbeat: &pb.Heartbeat{Token: token, LeaseMs: 60_000}}}
	}
	report := func(token uint32) *pb.Command {
		return &pb.Command{Action: &pb.Command_Report{Report: &pb.Report{Token: token,
			Result: &pb.Result{Status: "success", ConfidenceScore: 1}}}}
	}
	waiting := func(ms uint32) *pb.Command {
		return &pb.Command{Action: &pb.Command_Claim{Claim: &pb.Claim{Agent: "player-1", LeaseMs: 60_000, WaitMs: ms}}}
	}

	opened, err := c.OpenWith(ctx, "open", one, &pb.Open{Workflow: "pingpong", Issue: &pb.Issue{Title: "t"}})
	check("open", opened, err)
	claimed := do("player", "claim", "claim", one, claim("", "player-1", opened.GetInstance().GetWork()))
	do("player", "heartbeat", "heartbeat", one, heartbeat(claimed.GetToken()))

	cmd, next := report(claimed.GetToken()), waiting(500)
	cmd.Id, cmd.Instance, next.Id = "report-with-claim", one, "waiting-claim"
	reported, pending, err := c.DoAsWithClaim(ctx, "player", "report", cmd, next)
	check("report-with-claim", reported, err)
	direct, err := pending.Wait(ctx)
	check("waiting-claim", direct, err)

	var inFlight sync.WaitGroup
	for n := range idleClaims {
		inFlight.Go(func() { do("idle", "claim", fmt.Sprintf("idle-%d", n), "", waiting(1000)) })
	}
	for range idleClaims {
		<-older.waits
	}
	batch := []func(){
		func() { do("player", "heartbeat", "heartbeat-in-batch", one, heartbeat(direct.GetToken())) },
		func() {
			do("player", "note", "note-in-batch", one, &pb.Command{Action: &pb.Command_Note{Note: &pb.Note{Kind: "learning", Text: "x"}}})
		},
	}
	for _, f := range batch {
		inFlight.Go(f)
	}
	inFlight.Wait()

	reported = do("player", "report", "report", one, report(direct.GetToken()))
	claimed = do("player", "claim", "claim-again", one, claim("", "player-1", reported.GetInstance().GetWork()))
	do("player", "release", "release", one,
		&pb.Command{Action: &pb.Command_Release{Release: &pb.Release{Token: claimed.GetToken(), Reason: "shutting down"}}})
	if len(want) > 0 || len(older.Requests) > 0 {
		t.Errorf("%v were not sent, of %v", slices.Sorted(maps.Keys(want)), older.Requests)
	}
}
