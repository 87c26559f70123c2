package e2e

import (
	"bytes"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/effectcheck"
	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// echo hears every command of everybody and what it was answered, and can say
// them again.
type commandRecorder struct {
	nc *nats.Conn

	mu      sync.Mutex
	sent    []*nats.Msg             // commands, each as it was sent
	pending map[string]*pb.Command  // by where the answer goes
	acks    map[effectcheck.Ack]int // how often each was given
}

// listen hears commands until the test ends.
func recordCommands(t *testing.T, nc *nats.Conn) *commandRecorder {
	t.Helper()
	e := &commandRecorder{nc: nc, pending: map[string]*pb.Command{}, acks: map[effectcheck.Ack]int{}}
	for filter, hear := range map[string]nats.MsgHandler{subject.APIs: e.onCommand, nats.InboxPrefix + ">": e.onReply} {
		sub, err := nc.Subscribe(filter, hear)
		if err != nil {
			t.Fatal(err)
		}
		if err := sub.SetPendingLimits(-1, -1); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.FlushTimeout(maxWait); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *commandRecorder) onCommand(m *nats.Msg) {
	if name, err := subject.ParseAPI(m.Subject); err == nil && slices.Contains([]string{subject.Get, subject.List, subject.History, subject.Definition}, name) {
		return
	}
	cmd := new(pb.Command)
	if err := decode(m.Data, cmd); err != nil || cmd.GetId() == "" || cmd.GetAction() == nil || m.Reply == "" {
		return // a query of a service
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending[m.Reply] = cmd
	e.sent = append(e.sent, &nats.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data})
}

func (e *commandRecorder) onReply(m *nats.Msg) {
	e.mu.Lock()
	defer e.mu.Unlock()
	cmd := e.pending[m.Subject]
	if cmd == nil {
		return
	}
	delete(e.pending, m.Subject)
	r := new(pb.CommandReply)
	if err := decode(m.Data, r); err != nil || r.GetRefusal() != nil || r.GetSeq() == 0 {
		return
	}
	id := cmd.GetInstance()
	if got := r.GetInstance().GetInstance(); got != "" {
		id = got // a claim is given the most urgent
	}
	e.acks[effectcheck.Ack{ID: cmd.GetId(), Instance: id, Seq: r.GetSeq()}]++
}

func decode(data []byte, into proto.Message) error {
	if bytes.HasPrefix(data, []byte("{")) {
		return protojson.Unmarshal(data, into)
	}
	return proto.Unmarshal(data, into)
}

// all returns every answer that was given.
func (e *commandRecorder) acknowledged() []effectcheck.Ack {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Keys(e.acks))
}

// repeat sends n commands of the past once more, in any order, and returns how
// many.
func (e *commandRecorder) repeat(r *rand.Rand, n int) (sent int64) {
	e.mu.Lock()
	var again []*nats.Msg
	for range min(n, len(e.sent)) {
		from := 0
		if r.IntN(4) > 0 { // rather a new one
			from = max(0, len(e.sent)-200)
		}
		m := e.sent[from+r.IntN(len(e.sent)-from)]
		again = append(again, &nats.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data, Reply: nats.NewInbox()})
	}
	e.mu.Unlock()
	for _, m := range again {
		if e.nc.PublishMsg(m) == nil {
			sent++
		}
	}
	return sent
}

// rob takes work that is for a role, or was if there is none, and gives it back
// late, in another order, or not at all. It returns how many pieces.
func stealDeliveries(ctx context.Context, js jetstream.JetStream, r *rand.Rand, role string) int64 {
	all := fetchDeliveries(ctx, js, role, 1+r.IntN(5))
	if all == nil && rewindConsumer(ctx, js, r, role) > 0 {
		all = fetchDeliveries(ctx, js, role, 1+r.IntN(5))
	}
	r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	for _, m := range all {
		switch r.IntN(3) {
		case 0:
			_ = m.Nak()
		case 1:
			_ = m.NakWithDelay(rand.N(chaosLease))
		}
	}
	return int64(len(all))
}

// snatch takes up to n deliveries of a role.
func fetchDeliveries(ctx context.Context, js jetstream.JetStream, role string, n int) (all []jetstream.Msg) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	consumer, err := js.Consumer(ctx, subject.EventStream, role)
	if err != nil {
		return nil
	}
	batch, err := consumer.Fetch(n, jetstream.FetchContext(ctx))
	if err != nil {
		return nil
	}
	for m := range batch.Messages() {
		all = append(all, m)
	}
	return all
}

// rewind has the server deliver again what a role was given and has acknowledged,
// from somewhere on; never from behind what it has not, which would be lost.
func rewindConsumer(ctx context.Context, js jetstream.JetStream, r *rand.Rand, role string) int64 {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	consumer, err := js.Consumer(ctx, subject.EventStream, role)
	if err != nil {
		return 0
	}
	floor := consumer.CachedInfo().AckFloor.Stream
	if _, err := js.ResetConsumerToSequence(ctx, subject.EventStream, role, floor-r.Uint64N(min(floor, 300)+1)+1); err != nil {
		return 0
	}
	return 1
}
