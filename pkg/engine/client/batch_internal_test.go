package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/wire"
)

// fakeConn is a connection whose other end is the test.
type fakeConn struct {
	mu      sync.Mutex
	alone   []string      // data of the requests that were not batched
	door    chan struct{} // each of those takes a value before it is replied to
	batches []*nats.Msg
	handle  nats.MsgHandler // of replies to batches
	broken  error           // of PublishRequest
}

func (nc *fakeConn) NewInbox() string { return "_INBOX.me" }

func (nc *fakeConn) Subscribe(subject string, f nats.MsgHandler) (*nats.Subscription, error) {
	if subject != "_INBOX.me.*" || nc.handle != nil {
		return nil, fmt.Errorf("%s is subscribed to", subject)
	}
	nc.handle = f
	return nil, nil
}

func (nc *fakeConn) PublishRequest(subject, reply string, data []byte) error {
	nc.mu.Lock()
	defer nc.mu.Unlock()
	nc.batches = append(nc.batches, &nats.Msg{Subject: subject, Reply: reply, Data: data})
	return nc.broken
}

func (nc *fakeConn) RequestMsgWithContext(ctx context.Context, msg *nats.Msg) (*nats.Msg, error) {
	nc.mu.Lock()
	nc.alone = append(nc.alone, string(msg.Data))
	nc.mu.Unlock()
	select {
	case <-nc.door:
		return &nats.Msg{Data: []byte("alone " + string(msg.Data))}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// open has n requests replied to.
func (nc *fakeConn) open(n int) {
	for range n {
		nc.door <- struct{}{}
	}
}

func (nc *fakeConn) sent() []*nats.Msg { nc.mu.Lock(); defer nc.mu.Unlock(); return nc.batches }
func (nc *fakeConn) lone() []string    { nc.mu.Lock(); defer nc.mu.Unlock(); return nc.alone }

// answer replies to the nth batch, with "place=text" for each reply.
func (nc *fakeConn) answer(n int, places ...string) {
	var answers []wire.Answer
	for _, p := range places {
		var place int
		var text string
		if _, err := fmt.Sscanf(strings.ReplaceAll(p, "=", " "), "%d %s", &place, &text); err != nil {
			panic(err)
		}
		answers = append(answers, wire.Answer{Number: place, Reply: []byte(text)})
	}
	nc.handle(&nats.Msg{Subject: nc.sent()[n].Reply, Data: wire.BatchReply(answers...)})
	synctest.Wait()
}

type outcome struct {
	data string
	err  error
}

// bubble runs a test with directBelow requests "slow" in flight, which are replied to at its end. Then
// nothing may be in flight.
func bubble(t *testing.T, name string, f func(t *testing.T, nc *fakeConn, ask func(to, text string) (<-chan outcome, context.CancelFunc))) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			nc := &fakeConn{door: make(chan struct{})}
			b := newBatcher(nc)
			ask := func(to, text string) (<-chan outcome, context.CancelFunc) {
				ctx, cancel := context.WithCancel(t.Context())
				end := make(chan outcome, 1)
				go func() {
					data, err := b.request(ctx, to, &nats.Msg{Data: []byte(text)})
					end <- outcome{string(data), err}
				}()
				synctest.Wait()
				return end, cancel
			}
			var slow []<-chan outcome
			for range directBelow {
				one, _ := ask("A", "slow")
				slow = append(slow, one)
			}
			f(t, nc, ask)
			close(nc.door)
			for _, one := range slow {
				expect(t, "slow", one, "alone slow")
			}
			synctest.Wait()
			if b.queue.inFlight != 0 || len(b.queue.open) != 0 || len(b.queue.sent) != 0 {
				t.Errorf("%d in flight, %d open, %d sent", b.queue.inFlight, len(b.queue.open), len(b.queue.sent))
			}
		})
	})
}

func wait() { time.Sleep(maxDelay); synctest.Wait() } // in a bubble, where time is not spent

func commands(t *testing.T, msg *nats.Msg) []string {
	t.Helper()
	all, err := wire.Commands(msg.Data)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, c := range all {
		texts = append(texts, string(c))
	}
	return texts
}

func expect(t *testing.T, name string, from <-chan outcome, want string) {
	t.Helper()
	if got := <-from; got.err != nil || got.data != want {
		t.Errorf("%s was answered %v, want %q", name, got, want)
	}
}

func TestBatches(t *testing.T) {
	bubble(t, "commands that are given meanwhile are sent together, and each gets its reply",
		func(t *testing.T, nc *fakeConn, ask func(string, string) (<-chan outcome, context.CancelFunc)) {
			one, _ := ask("A", "1")
			two, _ := ask("A", "2")
			other, _ := ask("B", "3")
			fourth, _ := ask("B", "4")
			if len(nc.sent()) != 0 {
				t.Fatalf("%d batches at once", len(nc.sent()))
			}
			wait()
			slices.SortFunc(nc.sent(), func(a, b *nats.Msg) int { return strings.Compare(a.Subject, b.Subject) })
			if len(nc.sent()) != 2 || nc.sent()[0].Subject != "A" || nc.sent()[1].Subject != "B" {
				t.Fatalf("sent %v", nc.sent())
			}
			if a, b := commands(t, nc.sent()[0]), commands(t, nc.sent()[1]); !slices.Equal(a, []string{"1", "2"}) ||
				!slices.Equal(b, []string{"3", "4"}) {
				t.Fatalf("sent %q and %q", a, b)
			}
			nc.answer(0, "1=b")
			expect(t, "2", two, "b")
			nc.answer(0, "1=again", "0=a", "7=none")
			expect(t, "1", one, "a")
			nc.answer(1, "0=c", "1=d")
			expect(t, "3", other, "c")
			expect(t, "4", fourth, "d")
		})
	bubble(t, "a single command is sent alone",
		func(t *testing.T, nc *fakeConn, ask func(string, string) (<-chan outcome, context.CancelFunc)) {
			one, _ := ask("A", "1")
			wait()
			nc.open(directBelow + 1)
			expect(t, "1", one, "alone 1")
			if len(nc.sent()) != 0 {
				t.Errorf("sent %v", nc.sent())
			}
			synctest.Wait()
			last, _ := ask("A", "slow") // nothing is in flight: at once
			if len(nc.lone()) != directBelow+2 {
				t.Errorf("%q were sent alone", nc.lone())
			}
			nc.open(1)
			expect(t, "last", last, "alone slow")
		})
	bubble(t, "a large command is sent alone, and a full batch at once",
		func(t *testing.T, nc *fakeConn, ask func(string, string) (<-chan outcome, context.CancelFunc)) {
			large, _ := ask("A", strings.Repeat("x", maxBytes+1))
			if len(nc.lone()) != directBelow+1 {
				t.Fatalf("%d alone", len(nc.lone()))
			}
			var all []<-chan outcome
			var places []string
			for i := range maxCommands {
				end, _ := ask("A", "many")
				all, places = append(all, end), append(places, fmt.Sprintf("%d=%d", i, i))
			}
			if len(nc.sent()) != 1 || len(commands(t, nc.sent()[0])) != maxCommands {
				t.Fatalf("sent %v", nc.sent())
			}
			nc.answer(0, places...)
			for i, end := range all {
				expect(t, "one of many", end, fmt.Sprint(i))
			}
			nc.open(directBelow + 1)
			<-large
		})
	for name, answer := range map[string]string{"no orchestrator takes": "", "is not understood": "\xff"} {
		bubble(t, "the commands of a batch that "+name+" are sent alone",
			func(t *testing.T, nc *fakeConn, ask func(string, string) (<-chan outcome, context.CancelFunc)) {
				one, _ := ask("A", "1")
				two, _ := ask("A", "2")
				wait()
				nc.handle(&nats.Msg{Subject: nc.sent()[0].Reply, Data: []byte(answer)})
				synctest.Wait()
				nc.open(directBelow + 2)
				expect(t, "1", one, "alone 1")
				expect(t, "2", two, "alone 2")
			})
	}
	bubble(t, "a command without a reply times out, and one whose context ended is not waited for",
		func(t *testing.T, nc *fakeConn, ask func(string, string) (<-chan outcome, context.CancelFunc)) {
			one, _ := ask("A", "1")
			two, _ := ask("A", "2")
			ended, end := ask("A", "3")
			wait()
			end()
			if got := <-ended; !errors.Is(got.err, context.Canceled) {
				t.Errorf("the one whose context ended has %v", got)
			}
			nc.answer(0, "1=b")
			expect(t, "2", two, "b")
			nc.open(directBelow)
			time.Sleep(perTry)
			if got := <-one; !errors.Is(got.err, nats.ErrTimeout) {
				t.Errorf("the one without a reply has %v", got)
			}
			nc.answer(0, "0=late")
			synctest.Wait()
			slow, _ := ask("A", "slow")
			nc.open(1)
			expect(t, "the next", slow, "alone slow")
		})
	bubble(t, "a connection that is closed is an error",
		func(t *testing.T, nc *fakeConn, ask func(string, string) (<-chan outcome, context.CancelFunc)) {
			nc.broken = nats.ErrConnectionClosed
			one, _ := ask("A", "1")
			two, _ := ask("A", "2")
			wait()
			for _, end := range []<-chan outcome{one, two} {
				if got := <-end; !errors.Is(got.err, nats.ErrConnectionClosed) {
					t.Errorf("its outcome is %v", got)
				}
			}
		})
}
