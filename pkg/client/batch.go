package client

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/wire"
)

const (
	// few are the commands under way beside which one more goes at once.
	few = 4
	// linger is how long a command waits for others to go with, if there are more.
	linger = 2 * time.Millisecond
	// mostTogether and mostBytes are what one batch has at most; a command with
	// more than mostBytes goes alone.
	mostTogether = 64
	mostBytes    = 64 << 10
)

// errAlone says that a command was not in a batch, or nobody takes batches.
var errAlone = errors.New("ask alone")

// batches sends the commands that an agent gives at about the same time in one
// message: what comes together is appended together. One that is given while few
// are under way goes at once, and alone.
type batches struct {
	nc conn

	mu    sync.Mutex
	asked int               // commands under way
	open  map[string]*batch // being gathered, by where they will go
	sent  map[string]*batch // by the last token of where they are answered
	inbox string            // where they are answered; empty before the first
	next  uint64            // token
}

// conn is what is needed of a *nats.Conn.
type conn interface {
	NewInbox() string
	Subscribe(subject string, f nats.MsgHandler) (*nats.Subscription, error)
	PublishRequest(subject, reply string, data []byte) error
	RequestMsgWithContext(ctx context.Context, msg *nats.Msg) (*nats.Msg, error)
}

// batch is commands that go together.
type batch struct {
	to      string
	token   string
	data    []byte
	waiting []place     // by place in it
	left    int         // of them, that are not answered
	late    *time.Timer // gives up, once it was sent
}

// place is one command of a batch.
type place struct {
	told  chan<- answer // nil once it was answered
	waits bool          // for work that may not come: it does not count as under way
}

type answer struct {
	data []byte
	err  error
}

// request asks for one command: to is where batches of it go, alone where it goes
// by itself. It returns the encoded reply.
func (b *batches) request(ctx context.Context, to string, alone *nats.Msg) ([]byte, error) {
	if told := b.enter(to, alone.Data); told != nil {
		return b.told(ctx, told, alone)
	}
	defer b.add(-1)
	return send(ctx, b.nc, alone)
}

// told waits for the answer to a command of a batch, which may be to ask alone.
func (b *batches) told(ctx context.Context, told <-chan answer, alone *nats.Msg) ([]byte, error) {
	select {
	case got := <-told:
		if !errors.Is(got.err, errAlone) {
			return got.data, got.err
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	b.add(1)
	defer b.add(-1)
	return send(ctx, b.nc, alone)
}

func (b *batches) add(n int) {
	b.mu.Lock()
	b.asked += n
	b.mu.Unlock()
}

// enter returns where the command's answer will be told, or nil if it is to go
// alone: then it counts as under way.
func (b *batches) enter(to string, command []byte) <-chan answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked < few || len(command) > mostBytes || !b.listens() {
		b.asked++
		return nil
	}
	g := b.gather(to)
	told := g.add(command, false)
	b.full(g)
	return told
}

// pair has a claim that waits for work go with a command, and before it: work that
// comes of the command may be what it gets. Both are nil if they cannot go so.
func (b *batches) pair(to string, claim, command []byte) (work, told <-chan answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(command) > mostBytes || !b.listens() {
		return nil, nil
	}
	g := b.gather(to)
	work, told = g.add(claim, true), g.add(command, false)
	if b.asked < few {
		b.send(g)
	} else {
		b.full(g)
	}
	return work, told
}

// gather returns the batch that commands are put into now.
func (b *batches) gather(to string) *batch {
	g := b.open[to]
	if g == nil {
		g = &batch{to: to}
		b.open[to] = g
		time.AfterFunc(linger, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.send(g)
		})
	}
	return g
}

func (g *batch) add(command []byte, waits bool) <-chan answer {
	told := make(chan answer, 1)
	g.waiting, g.data = append(g.waiting, place{told, waits}), wire.AppendCommand(g.data, command)
	return told
}

// full sends a batch that is large enough.
func (b *batches) full(g *batch) {
	if len(g.waiting) >= mostTogether || len(g.data) > mostBytes {
		b.send(g)
	}
}

// listens makes sure that answers to batches are heard.
func (b *batches) listens() bool {
	if b.inbox != "" {
		return true
	}
	inbox := b.nc.NewInbox() + "."
	if _, err := b.nc.Subscribe(inbox+"*", b.hear); err != nil {
		return false
	}
	b.inbox, b.open, b.sent = inbox, map[string]*batch{}, map[string]*batch{}
	return true
}

// send sends a batch that is still being gathered.
func (b *batches) send(g *batch) {
	if b.open[g.to] != g {
		return
	}
	delete(b.open, g.to)
	if len(g.waiting) == 1 {
		g.waiting[0].told <- answer{err: errAlone}
		return
	}
	b.next++
	g.token, g.left = strconv.FormatUint(b.next, 36), len(g.waiting)
	for _, p := range g.waiting {
		b.asked += p.counts()
	}
	b.sent[g.token] = g
	g.late = time.AfterFunc(perTry, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.end(g, nats.ErrTimeout)
	})
	if err := b.nc.PublishRequest(g.to, b.inbox+g.token, g.data); err != nil {
		b.end(g, err)
	}
}

// end tells those that are still waiting, if there are any.
func (b *batches) end(g *batch, err error) {
	g.late.Stop()
	delete(b.sent, g.token)
	for i := range g.waiting {
		b.tell(g, i, answer{err: err})
	}
}

// tell tells one that is still waiting.
func (b *batches) tell(g *batch, i int, a answer) {
	p := &g.waiting[i]
	if p.told == nil {
		return
	}
	p.told <- a
	p.told = nil
	g.left--
	b.asked -= p.counts()
}

// counts is how many commands under way it is.
func (p place) counts() int {
	if p.waits {
		return 0
	}
	return 1
}

// hear is given all answers. A batch that nobody took, and what is no answer to
// one, as an orchestrator of before would give, have the commands go alone.
func (b *batches) hear(msg *nats.Msg) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.sent[msg.Subject[len(b.inbox):]]
	if g == nil {
		return
	}
	err := wire.Answers(msg.Data, func(place uint64, reply []byte) {
		if place < uint64(len(g.waiting)) {
			b.tell(g, int(place), answer{data: reply})
		}
	})
	if g.left == 0 || err != nil || len(msg.Data) == 0 {
		b.end(g, errAlone)
	}
}
