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

	"github.com/signalbox/signalbox/pkg/wire"
)

// desk is a connection whose other end is the test.
type desk struct {
	mu      sync.Mutex
	alone   []string // what was asked alone
	door    chan struct{}
	batches []*nats.Msg
	hear    nats.MsgHandler
	broken  error // of publishing
}

func (d *desk) NewInbox() string { return "_INBOX.me" }

func (d *desk) Subscribe(subject string, f nats.MsgHandler) (*nats.Subscription, error) {
	if subject != "_INBOX.me.*" || d.hear != nil {
		return nil, fmt.Errorf("%s is subscribed to", subject)
	}
	d.hear = f
	return nil, nil
}

func (d *desk) PublishRequest(subject, reply string, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.batches = append(d.batches, &nats.Msg{Subject: subject, Reply: reply, Data: data})
	return d.broken
}

func (d *desk) RequestMsgWithContext(ctx context.Context, msg *nats.Msg) (*nats.Msg, error) {
	d.mu.Lock()
	d.alone = append(d.alone, string(msg.Data))
	d.mu.Unlock()
	select {
	case <-d.door:
		return &nats.Msg{Data: []byte("alone " + string(msg.Data))}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// open lets so many through.
func (d *desk) open(n int) {
	for range n {
		d.door <- struct{}{}
	}
}

func (d *desk) sent() []*nats.Msg { d.mu.Lock(); defer d.mu.Unlock(); return d.batches }
func (d *desk) lone() []string    { d.mu.Lock(); defer d.mu.Unlock(); return d.alone }

// answer answers the nth batch: places as "place=text".
func (d *desk) answer(n int, places ...string) {
	var data []byte
	for _, p := range places {
		var place int
		var text string
		if _, err := fmt.Sscanf(strings.ReplaceAll(p, "=", " "), "%d %s", &place, &text); err != nil {
			panic(err)
		}
		data = wire.AppendAnswer(data, place, []byte(text))
	}
	d.hear(&nats.Msg{Subject: d.sent()[n].Reply, Data: data})
	synctest.Wait()
}

type told struct {
	data string
	err  error
}

// bubble runs a test with a few requests "slow" under way, which are answered
// with the door open. At the end nothing may be under way.
func bubble(t *testing.T, name string, f func(t *testing.T, d *desk, ask func(to, text string) (<-chan told, context.CancelFunc))) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := &desk{door: make(chan struct{})}
			b := &batches{nc: d}
			ask := func(to, text string) (<-chan told, context.CancelFunc) {
				ctx, cancel := context.WithCancel(t.Context())
				end := make(chan told, 1)
				go func() {
					data, err := b.request(ctx, to, &nats.Msg{Data: []byte(text)})
					end <- told{string(data), err}
				}()
				synctest.Wait()
				return end, cancel
			}
			var slow []<-chan told
			for range few {
				one, _ := ask("A", "slow")
				slow = append(slow, one)
			}
			f(t, d, ask)
			close(d.door)
			for _, one := range slow {
				expect(t, "slow", one, "alone slow")
			}
			synctest.Wait()
			if b.asked != 0 || len(b.open) != 0 || len(b.sent) != 0 {
				t.Errorf("%d under way, %d gathered, %d sent", b.asked, len(b.open), len(b.sent))
			}
		})
	})
}

func wait() { time.Sleep(linger); synctest.Wait() } // in a bubble, where time is not spent

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

func expect(t *testing.T, who string, from <-chan told, want string) {
	t.Helper()
	if got := <-from; got.err != nil || got.data != want {
		t.Errorf("%s was answered %v, want %q", who, got, want)
	}
}

func TestBatches(t *testing.T) {
	bubble(t, "those that come meanwhile go together, and each gets its answer", func(t *testing.T, d *desk, ask func(string, string) (<-chan told, context.CancelFunc)) {
		one, _ := ask("A", "1")
		two, _ := ask("A", "2")
		other, _ := ask("B", "3")
		fourth, _ := ask("B", "4")
		if len(d.sent()) != 0 {
			t.Fatalf("%d batches at once", len(d.sent()))
		}
		wait()
		slices.SortFunc(d.sent(), func(a, b *nats.Msg) int { return strings.Compare(a.Subject, b.Subject) })
		if len(d.sent()) != 2 || d.sent()[0].Subject != "A" || d.sent()[1].Subject != "B" {
			t.Fatalf("sent %v", d.sent())
		}
		if a, b := commands(t, d.sent()[0]), commands(t, d.sent()[1]); !slices.Equal(a, []string{"1", "2"}) || !slices.Equal(b, []string{"3", "4"}) {
			t.Fatalf("sent %q and %q", a, b)
		}
		d.answer(0, "1=b")
		expect(t, "2", two, "b")
		d.answer(0, "1=again", "0=a", "7=nobody")
		expect(t, "1", one, "a")
		d.answer(1, "0=c", "1=d")
		expect(t, "3", other, "c")
		expect(t, "4", fourth, "d")
	})
	bubble(t, "one that nobody goes with goes alone", func(t *testing.T, d *desk, ask func(string, string) (<-chan told, context.CancelFunc)) {
		one, _ := ask("A", "1")
		wait()
		d.open(few + 1)
		expect(t, "1", one, "alone 1")
		if len(d.sent()) != 0 {
			t.Errorf("sent %v", d.sent())
		}
		synctest.Wait()
		last, _ := ask("A", "slow") // nothing is under way: at once
		if len(d.lone()) != few+2 {
			t.Errorf("asked %q alone", d.lone())
		}
		d.open(1)
		expect(t, "last", last, "alone slow")
	})
	bubble(t, "what is too large goes alone, and a full batch at once", func(t *testing.T, d *desk, ask func(string, string) (<-chan told, context.CancelFunc)) {
		large, _ := ask("A", strings.Repeat("x", mostBytes+1))
		if len(d.lone()) != few+1 {
			t.Fatalf("%d alone", len(d.lone()))
		}
		var all []<-chan told
		var places []string
		for i := range mostTogether {
			end, _ := ask("A", "many")
			all, places = append(all, end), append(places, fmt.Sprintf("%d=%d", i, i))
		}
		if len(d.sent()) != 1 || len(commands(t, d.sent()[0])) != mostTogether {
			t.Fatalf("sent %v", d.sent())
		}
		d.answer(0, places...)
		for i, end := range all {
			expect(t, "one of many", end, fmt.Sprint(i))
		}
		d.open(few + 1)
		<-large
	})
	for name, answer := range map[string]string{"nobody takes": "", "is not understood": "\xff"} {
		bubble(t, "the commands of a batch that "+name+" go alone", func(t *testing.T, d *desk, ask func(string, string) (<-chan told, context.CancelFunc)) {
			one, _ := ask("A", "1")
			two, _ := ask("A", "2")
			wait()
			d.hear(&nats.Msg{Subject: d.sent()[0].Reply, Data: []byte(answer)})
			synctest.Wait()
			d.open(few + 2)
			expect(t, "1", one, "alone 1")
			expect(t, "2", two, "alone 2")
		})
	}
	bubble(t, "who is not answered is told so, and who gives up is not waited for", func(t *testing.T, d *desk, ask func(string, string) (<-chan told, context.CancelFunc)) {
		one, _ := ask("A", "1")
		two, _ := ask("A", "2")
		gone, leave := ask("A", "3")
		wait()
		leave()
		if got := <-gone; !errors.Is(got.err, context.Canceled) {
			t.Errorf("who left was told %v", got)
		}
		d.answer(0, "1=b")
		expect(t, "2", two, "b")
		d.open(few)
		time.Sleep(perTry)
		if got := <-one; !errors.Is(got.err, nats.ErrTimeout) {
			t.Errorf("who was not answered was told %v", got)
		}
		d.answer(0, "0=late")
		synctest.Wait()
		slow, _ := ask("A", "slow")
		d.open(1)
		expect(t, "the next", slow, "alone slow")
	})
	bubble(t, "a connection that is closed is an error", func(t *testing.T, d *desk, ask func(string, string) (<-chan told, context.CancelFunc)) {
		d.broken = nats.ErrConnectionClosed
		one, _ := ask("A", "1")
		two, _ := ask("A", "2")
		wait()
		for _, end := range []<-chan told{one, two} {
			if got := <-end; !errors.Is(got.err, nats.ErrConnectionClosed) {
				t.Errorf("told %v", got)
			}
		}
	})
}
