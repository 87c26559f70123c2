package e2e

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/testkit/effectcheck"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// commandRecorder records every command on the API and its reply. It can send
// commands again.
type commandRecorder struct {
	nc    *nats.Conn
	entry access.Entry

	mu      sync.Mutex
	sent    []*nats.Msg             // commands as they were sent
	pending map[string]*pb.Command  // by reply subject
	acks    map[effectcheck.Ack]int // number of times each was received
}

// recordCommands records until the test ends.
func recordCommands(t *testing.T, nc *nats.Conn) *commandRecorder {
	t.Helper()
	entry, err := access.FindEntry(t.Context(), nc)
	if err != nil {
		t.Fatal(err)
	}
	commands, err := entry.Subject(subject.APIs)
	if err != nil {
		t.Fatal(err)
	}
	c := &commandRecorder{nc: nc, entry: entry, pending: map[string]*pb.Command{}, acks: map[effectcheck.Ack]int{}}
	for filter, handle := range map[string]nats.MsgHandler{commands: c.onCommand, nats.InboxPrefix + ">": c.onReply} {
		sub, err := nc.Subscribe(filter, handle)
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
	return c
}

func (c *commandRecorder) onCommand(m *nats.Msg) {
	_, published, err := c.entry.Requester(m.Subject)
	if err != nil {
		return
	}
	if name, err := subject.ParseAPI(published); err == nil &&
		slices.Contains([]string{subject.Get, subject.List, subject.History, subject.Definition}, name) {
		return
	}
	cmd := new(pb.Command)
	if err := decode(m.Data, cmd); err != nil || cmd.GetId() == "" || cmd.GetAction() == nil || m.Reply == "" {
		return // a query
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[m.Reply] = cmd
	c.sent = append(c.sent, &nats.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data})
}

func (c *commandRecorder) onReply(m *nats.Msg) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cmd := c.pending[m.Subject]
	if cmd == nil {
		return
	}
	delete(c.pending, m.Subject)
	r := new(pb.CommandReply)
	if err := decode(m.Data, r); err != nil || r.GetRefusal() != nil || r.GetSeq() == 0 {
		return
	}
	id := cmd.GetInstance()
	if got := r.GetInstance().GetInstance(); got != "" {
		id = got // a claim may be given another, more urgent instance
	}
	c.acks[effectcheck.Ack{ID: cmd.GetId(), Instance: id, Seq: r.GetSeq()}]++
}

func decode(data []byte, into proto.Message) error {
	if bytes.HasPrefix(data, []byte("{")) {
		return protojson.Unmarshal(data, into)
	}
	return proto.Unmarshal(data, into)
}

// acknowledged returns every acknowledgement that was received.
func (c *commandRecorder) acknowledged() []effectcheck.Ack {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.acks))
}

// repeat sends up to n recorded commands again, in any order, and returns how many
// it sent.
func (c *commandRecorder) repeat(r *rand.Rand, n int) (sent int64) {
	c.mu.Lock()
	var again []*nats.Msg
	for range min(n, len(c.sent)) {
		from := 0
		if r.IntN(4) > 0 { // mostly a recent one
			from = max(0, len(c.sent)-200)
		}
		m := c.sent[from+r.IntN(len(c.sent)-from)]
		again = append(again, &nats.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data, Reply: nats.NewInbox()})
	}
	c.mu.Unlock()
	for _, m := range again {
		if c.nc.PublishMsg(m) == nil {
			sent++
		}
	}
	return sent
}
