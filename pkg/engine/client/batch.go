package client

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/wire"
)

const (
	// directBelow is the number of commands in flight below which a command is sent at once and alone.
	directBelow = 4
	// maxDelay is how long a batch waits for more commands.
	maxDelay = 2 * time.Millisecond
	// maxCommands and maxBytes bound a batch. A command with more than maxBytes is sent alone.
	maxCommands = 64
	maxBytes    = 64 << 10
)

// errNotBatched is the result of a command that has to be sent alone: its batch had no other, or the
// orchestrator takes no batches.
var errNotBatched = errors.New("the command was not sent in a batch")

// conn is the part of a *nats.Conn that sends requests.
type conn interface {
	NewInbox() string
	Subscribe(subject string, f nats.MsgHandler) (*nats.Subscription, error)
	PublishRequest(subject, reply string, data []byte) error
	RequestMsgWithContext(ctx context.Context, msg *nats.Msg) (*nats.Msg, error)
}

// batcher sends commands that are given at about the same time in one message, since commands that
// arrive together are appended together. Its methods may be called from any goroutine.
type batcher struct {
	nc conn

	mu    sync.Mutex
	queue batchQueue
}

func newBatcher(nc conn) *batcher {
	b := &batcher{nc: nc}
	b.queue = batchQueue{nc: nc, handle: b.handle, after: b.after, open: map[string]*batch{}, sent: map[string]*batch{}}
	return b
}

// request sends one command, as alone, or in a batch to the given subject. It returns the encoded reply.
func (b *batcher) request(ctx context.Context, subject string, alone *nats.Msg) ([]byte, error) {
	b.mu.Lock()
	done := b.queue.add(subject, alone.Data)
	b.mu.Unlock()
	if done != nil {
		return b.await(ctx, done, alone)
	}
	defer b.addInFlight(-1)
	return send(ctx, b.nc, alone)
}

// sendWithClaim puts a claim that waits for work into a batch, and a command behind it. Work that the
// command makes may be what the claim gets. Both results are nil if they cannot be sent in a batch.
func (b *batcher) sendWithClaim(subject string, claim, command []byte) (claimed, done <-chan result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.queue.addWithClaim(subject, claim, command)
}

// await returns the result of a command in a batch. If that is errNotBatched, it sends the command alone.
func (b *batcher) await(ctx context.Context, done <-chan result, alone *nats.Msg) ([]byte, error) {
	select {
	case got := <-done:
		if !errors.Is(got.err, errNotBatched) {
			return got.data, got.err
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	b.addInFlight(1)
	defer b.addInFlight(-1)
	return send(ctx, b.nc, alone)
}

func (b *batcher) addInFlight(n int) {
	b.mu.Lock()
	b.queue.inFlight += n
	b.mu.Unlock()
}

// handle passes a reply to its batch. NATS calls it.
func (b *batcher) handle(msg *nats.Msg) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue.reply(msg.Subject, msg.Data)
}

// after calls f with the queue locked when d is over.
func (b *batcher) after(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		f()
	})
}

// batchQueue is the batches of a client. It is not safe for concurrent use.
type batchQueue struct {
	nc     conn
	handle nats.MsgHandler                             // of replies
	after  func(d time.Duration, f func()) *time.Timer // calls f when d is over and the queue is not in use

	inFlight  int
	open      map[string]*batch // to which commands are added, by subject
	sent      map[string]*batch // without a reply to each command, by token
	inbox     string            // prefix of reply subjects; empty before the first batch
	lastToken uint64
}

// batch is commands that are sent in one message.
type batch struct {
	subject    string
	token      string   // last token of its reply subject
	commands   [][]byte // encoded, by place
	size       int      // bytes of the commands
	entries    []entry  // by place
	unanswered int
	timeout    *time.Timer // set once it is sent
}

// entry is one command of a batch.
type entry struct {
	done  chan<- result // nil once it has its result
	waits bool          // a claim that waits for work does not count as in flight
}

// result is the encoded reply to one command, or why there is none.
type result struct {
	data []byte
	err  error
}

func (e entry) inFlight() int {
	if e.waits {
		return 0
	}
	return 1
}

// add puts a command into a batch. It returns nil if the command has to be sent alone, and counts it as in
// flight.
func (q *batchQueue) add(subject string, command []byte) <-chan result {
	if q.inFlight < directBelow || len(command) > maxBytes || !q.subscribed() {
		q.inFlight++
		return nil
	}
	g := q.batch(subject)
	done := g.add(command, false)
	if g.full() {
		q.send(g)
	}
	return done
}

// addWithClaim is sendWithClaim.
func (q *batchQueue) addWithClaim(subject string, claim, command []byte) (claimed, done <-chan result) {
	if len(command) > maxBytes || !q.subscribed() {
		return nil, nil
	}
	g := q.batch(subject)
	claimed, done = g.add(claim, true), g.add(command, false)
	if q.inFlight < directBelow || g.full() {
		q.send(g)
	}
	return claimed, done
}

// subscribed subscribes to replies, once, and reports whether that has succeeded.
func (q *batchQueue) subscribed() bool {
	if q.inbox == "" {
		inbox := q.nc.NewInbox() + "."
		if _, err := q.nc.Subscribe(inbox+"*", q.handle); err != nil {
			return false
		}
		q.inbox = inbox
	}
	return true
}

// batch returns the batch to which commands for the subject are added, and sends it when maxDelay is over.
func (q *batchQueue) batch(subject string) *batch {
	g := q.open[subject]
	if g == nil {
		g = &batch{subject: subject}
		q.open[subject] = g
		q.after(maxDelay, func() { q.send(g) })
	}
	return g
}

func (g *batch) add(command []byte, waits bool) <-chan result {
	done := make(chan result, 1)
	g.entries, g.commands = append(g.entries, entry{done, waits}), append(g.commands, command)
	g.size += len(command)
	return done
}

func (g *batch) full() bool { return len(g.entries) >= maxCommands || g.size > maxBytes }

// send sends a batch, unless it was sent before.
func (q *batchQueue) send(g *batch) {
	if q.open[g.subject] != g {
		return
	}
	delete(q.open, g.subject)
	if len(g.entries) == 1 {
		g.entries[0].done <- result{err: errNotBatched}
		return
	}
	q.lastToken++
	g.token, g.unanswered = strconv.FormatUint(q.lastToken, 36), len(g.entries)
	for _, e := range g.entries {
		q.inFlight += e.inFlight()
	}
	q.sent[g.token] = g
	g.timeout = q.after(perTry, func() { q.end(g, nats.ErrTimeout) })
	if err := q.nc.PublishRequest(g.subject, q.inbox+g.token, wire.Batch(g.commands...)); err != nil {
		q.end(g, err)
	}
}

// reply passes on the replies in a message. An empty message means that there is no responder, or that
// it takes no batches; so does one that is no BatchReply.
func (q *batchQueue) reply(subject string, data []byte) {
	g := q.sent[subject[len(q.inbox):]]
	if g == nil {
		return
	}
	err := wire.Answers(data, func(place uint64, reply []byte) {
		if place < uint64(len(g.entries)) {
			q.answer(g, int(place), result{data: reply})
		}
	})
	switch {
	case g.unanswered == 0:
		q.end(g, nil)
	case err != nil || len(data) == 0:
		q.end(g, errNotBatched)
	}
}

// end gives err to the commands of a sent batch that have no result.
func (q *batchQueue) end(g *batch, err error) {
	g.timeout.Stop()
	delete(q.sent, g.token)
	for place := range g.entries {
		q.answer(g, place, result{err: err})
	}
}

// answer gives a command its result, unless it has one.
func (q *batchQueue) answer(g *batch, place int, r result) {
	e := &g.entries[place]
	if e.done == nil {
		return
	}
	e.done <- r
	e.done = nil
	g.unanswered--
	q.inFlight -= e.inFlight()
}
