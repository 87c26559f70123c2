package api_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/service/access"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/api"
)

// watch asks once for the commits after a sequence.
func (e *env) watch(q *pb.WatchRequest) *pb.WatchReply {
	e.Helper()
	reply := new(pb.WatchReply)
	e.proto("sb.api.watch", q, reply)
	return reply
}

func TestAViewerWatchesAllLiveAndGoesOnFromWhereTheyWere(t *testing.T) {
	e, as := withAccounts(t)
	acting, viewing := client.New(as(ann), ""), client.New(as(vera), "")
	open := func(n int) {
		t.Helper()
		if _, err := acting.Open(e.Context(), "", "issue", id(n), instance.Issue{Title: "t", Body: "b"}); err != nil {
			t.Fatal(err)
		}
	}
	open(0)
	newest, err := viewing.Newest(e.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan client.LogEntry)
	follow := func(of string, after uint64) (end func()) {
		ctx, stop := context.WithCancel(e.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- viewing.Watch(ctx, of, after, func(c client.LogEntry) error { seen <- c; return nil })
		}()
		return func() {
			t.Helper()
			stop()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("it ended with %v", err)
			}
		}
	}
	expect := func(n int, wakes bool) uint64 {
		t.Helper()
		c := <-seen
		if c.Instance != id(n) || c.Workflow != "issue" || c.State == "" || c.Wakes != wakes || c.Actor != "operator:ann" || len(c.Events) == 0 {
			t.Errorf("saw %+v, want a commit of %s", c, id(n))
		}
		return c.Seq
	}
	end := follow("", newest)
	open(1)
	at := expect(1, true)
	end()
	open(2) // while nobody watches
	open(3)
	end = follow("", at)
	expect(2, true)
	expect(3, true)
	end()
	end = follow(id(2), 0)
	expect(2, true)
	open(4)
	if _, err := acting.Note(e.Context(), id(2), "remark", "seen"); err != nil {
		t.Fatal(err)
	}
	expect(2, false)
	end()
}

func TestOnlyPeopleWatch(t *testing.T) {
	e, as := withAccounts(t)
	e.nc = as(ann)
	e.client = client.New(e.nc, "")
	e.open(id(0))
	for _, p := range []access.Party{pm, developer, gateway} {
		if p.May("watch") {
			t.Errorf("%s may watch", p)
		}
		ctx, cancel := context.WithTimeout(e.Context(), unheard)
		err := client.New(as(p), "").Watch(ctx, id(0), 0, func(client.LogEntry) error { return client.ErrStopWatch })
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: the watch ended with %v", p, err)
		}
	}
	if who := access.Who("watch"); !slices.Equal(who, []string{"view", "act", "admin"}) {
		t.Errorf("%v may watch", who)
	}
}

// A watch waits at the server for a second or two. There are so many at a time of one account, and others'
// are replied to all the same.
func TestTheWatchesOfOneAccountAreLimited(t *testing.T) {
	e, as := withAccounts(t)
	e.nc = as(vera)
	data, err := proto.Marshal(&pb.WatchRequest{WaitMs: 2000})
	if err != nil {
		t.Fatal(err)
	}
	inbox, err := e.nc.SubscribeSync(e.nc.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	const limit = 16
	for range limit + 1 {
		if err := e.nc.PublishRequest("sb.api.watch", inbox.Subject, data); err != nil {
			t.Fatal(err)
		}
	}
	next := func() *pb.WatchReply {
		t.Helper()
		m, err := inbox.NextMsg(time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		reply := new(pb.WatchReply)
		if err := proto.Unmarshal(m.Data, reply); err != nil {
			t.Fatal(err)
		}
		return reply
	}
	no := next().GetRefusal() // first: the others wait
	if no.GetCode() != api.CodeUnavailable || !strings.Contains(no.GetMessage(), "view-vera has 16 watches in progress") {
		t.Errorf("the watch above the limit was answered %v", no)
	}
	acting := client.New(as(ann), "")
	if _, err := acting.Newest(e.Context()); err != nil {
		t.Errorf("another's watch: %v", err)
	}
	if _, err := acting.Open(e.Context(), "", "issue", id(0), instance.Issue{Title: "t", Body: "b"}); err != nil {
		t.Fatal(err)
	}
	for range limit {
		if reply := next(); reply.GetRefusal() != nil || len(reply.GetCommits()) != 1 {
			t.Errorf("a watch was answered %v", reply)
		}
	}
	if reply := e.watch(&pb.WatchRequest{}); reply.GetRefusal() != nil {
		t.Errorf("after they ended a watch is refused: %v", reply.GetRefusal())
	}
}

func TestAWatchComesInPagesThatFitAMessage(t *testing.T) {
	e := newEnv(t, nil)
	e.open("a")
	for n := range 12 {
		e.note("a", fmt.Sprint(n)+strings.Repeat(" long", 30_000))
	}
	for _, of := range []string{"", "a"} {
		after, pages := uint64(0), 0
		var seqs []uint64
		for {
			reply := e.watch(&pb.WatchRequest{Instance: of, After: after})
			if len(reply.GetCommits()) == 0 {
				break
			}
			for _, c := range reply.GetCommits() {
				seqs = append(seqs, c.GetSeq())
			}
			after = reply.GetNext()
			pages++
		}
		if pages < 3 || !slices.Equal(seqs, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}) {
			t.Errorf("of %q: %v in %d pages", of, seqs, pages)
		}
	}
}

func TestAWatchOfWhatCannotBeIsRefusedAndHarmsNothing(t *testing.T) {
	e := newEnv(t, nil)
	e.open("a")
	for _, c := range []struct {
		q    *pb.WatchRequest
		want string
	}{
		{&pb.WatchRequest{After: 99}, "after 99: the log ends at 1"},
		{&pb.WatchRequest{Instance: "a", After: 99}, "after 99: the log ends at 1"},
		{&pb.WatchRequest{WaitMs: 2001}, "wait_ms is 2001, want at most 2000"},
		{&pb.WatchRequest{Instance: strings.Repeat("x", 5000)}, "instance: "},
	} {
		if no := e.watch(c.q).GetRefusal(); no.GetCode() != string(instance.CodeInvalid) || !strings.Contains(no.GetMessage(), c.want) {
			t.Errorf("%v was answered %v, want %q", c.q, no, c.want)
		}
	}
	if reply := e.watch(&pb.WatchRequest{Instance: "nowhere"}); reply.GetRefusal() != nil || len(reply.GetCommits()) != 0 {
		t.Errorf("an instance that may yet be opened: %v", reply)
	}
	e.open("b")
	e.note("b", "x")
	if reply := e.watch(&pb.WatchRequest{Instance: "a", After: 1}); reply.GetNext() != 1 || len(reply.GetCommits()) != 0 {
		t.Errorf("others' commits: %v", reply)
	}
	if reply := e.watch(&pb.WatchRequest{Instance: "b", After: 1}); len(reply.GetCommits()) != 2 { // 1 is no commit of b
		t.Errorf("after another's commit: %v", reply)
	}
}

func TestAServerThatClosesRepliesToItsWatches(t *testing.T) {
	e := newEnv(t, nil)
	data, err := proto.Marshal(&pb.WatchRequest{WaitMs: 2000})
	if err != nil {
		t.Fatal(err)
	}
	inbox, err := e.nc.SubscribeSync(e.nc.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := e.nc.PublishMsg(&nats.Msg{Subject: "sb.api.watch", Reply: inbox.Subject, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	e.open("a") // what came before is under way
	if err := e.server.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := inbox.NextMsg(time.Minute); err != nil {
			t.Fatal(err)
		}
	}
}
