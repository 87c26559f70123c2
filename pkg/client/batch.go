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
	waiting []chan<- answer // by place; nil once it was answered
	left    int             // of them
	late    *time.Timer     // gives up, once it was sent
}

type answer struct {
	data []byte
	err  error
}

// request asks for one command: to is where batches of it go, alone where it goes
// by itself. It returns the encoded reply.
func (b *batches) request(ctx context.Context, to string, alone *nats.Msg) ([]byte, error) {
	if told := b.enter(to, alone.Data); told != nil {
		select {
		case got := <-told:
			if !errors.Is(got.err, errAlone) {
				return got.data, got.err
			}
			b.add(1)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer b.add(-1)
	return ask(ctx, b.nc, alone)
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
	told := make(chan answer, 1)
	g.waiting, g.data = append(g.waiting, told), wire.AppendCommand(g.data, command)
	if len(g.waiting) == mostTogether || len(g.data) > mostBytes {
		b.send(g)
	}
	return told
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
		g.waiting[0] <- answer{err: errAlone}
		return
	}
	b.next++
	g.token, g.left = strconv.FormatUint(b.next, 36), len(g.waiting)
	b.asked += g.left
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
	b.asked -= g.left
	g.left = 0
	for i, w := range g.waiting {
		if w != nil {
			g.waiting[i] = nil
			w <- answer{err: err}
		}
	}
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
		if place < uint64(len(g.waiting)) && g.waiting[place] != nil {
			g.waiting[place] <- answer{data: reply}
			g.waiting[place] = nil
			g.left--
			b.asked--
		}
	})
	if g.left == 0 || err != nil || len(msg.Data) == 0 {
		b.end(g, errAlone)
	}
}
