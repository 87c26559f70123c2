package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/subject"
)

// A request for work stays open at the server for so long, and says every pulse
// that it does. Work that comes meanwhile is pushed at once. A server that went
// away in between has forgotten its requests; two pulses missing tell.
const (
	pull  = 30 * time.Second
	pulse = time.Second
)

// queue is where the idle workers of an agent wait. It asks the server for work
// on behalf of all of them, never for more than there are: a message that waited
// here would be kept from others while its time runs.
type queue struct {
	nc    *nats.Conn
	log   *slog.Logger
	next  string // where work is asked for
	inbox string // where it comes
	sub   *nats.Subscription
	ended chan struct{}  // closed when nothing comes any more
	work  chan *nats.Msg // never more than idle workers

	mu      sync.Mutex
	idle    int       // workers
	asked   int       // messages that the open requests may still bring
	heard   time.Time // of any of them
	round   uint64    // of requests; those of a round before are forgotten
	resting bool      // after an error, for as long as wait says
	stopped bool
	wait    *backoff.ExponentialBackOff
}

// newQueue returns one for so many workers.
func newQueue(js jetstream.JetStream, role string, workers int, log *slog.Logger) (*queue, error) {
	nc, api := js.Conn(), js.Options()
	q := &queue{
		nc: nc, log: log.With("role", role), next: subject.Pull(api.Domain, api.APIPrefix, role), inbox: nc.NewInbox() + ".",
		ended: make(chan struct{}), work: make(chan *nats.Msg, workers), wait: pace(),
	}
	var err error
	if q.sub, err = nc.Subscribe(q.inbox+"*", q.take); err != nil {
		return nil, fmt.Errorf("take work of %s: %w", role, err)
	}
	q.sub.SetClosedHandler(func(string) { close(q.ended) })
	return q, nil
}

// receive waits for one piece of work, for one worker.
func (q *queue) receive(ctx context.Context) (msg *nats.Msg, ok bool) {
	q.mu.Lock()
	q.idle++
	q.ask()
	q.mu.Unlock()
	select {
	case msg := <-q.work:
		return msg, true
	case <-ctx.Done():
		return nil, false
	}
}

// ask has work be asked for by at least half of the idle workers: if each asked
// for itself there would be as many requests as messages.
func (q *queue) ask() {
	if q.idle == 0 || q.asked > q.idle/2 || q.resting || q.stopped || !q.nc.IsConnected() {
		return
	}
	n := q.idle - q.asked
	body := fmt.Appendf(nil, `{"batch":%d,"expires":%d,"idle_heartbeat":%d}`, n, pull, pulse)
	if err := q.nc.PublishRequest(q.next, q.answers(), body); err != nil {
		q.rest(err)
		return
	}
	if q.asked == 0 {
		q.heard = time.Now()
	}
	q.asked += n
}

// answers is where the requests of this round are answered.
func (q *queue) answers() string { return q.inbox + strconv.FormatUint(q.round, 36) }

// take is given all that comes.
func (q *queue) take(msg *nats.Msg) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if msg.Reply == "" {
		q.told(msg)
		return
	}
	q.heard = time.Now()
	q.wait.Reset()
	q.asked = max(0, q.asked-1)
	if q.idle == 0 || q.stopped { // more came than was asked for in this round
		q.giveBack(msg)
		return
	}
	q.idle--
	q.work <- msg
	q.ask()
}

// told is given what the server says of a request: that it is open, or at its end.
func (q *queue) told(msg *nats.Msg) {
	if msg.Subject != q.answers() {
		return
	}
	q.heard = time.Now()
	switch status := msg.Header.Get("Status"); status {
	case "100":
	case "408":
		left, _ := strconv.Atoi(msg.Header.Get("Nats-Pending-Messages"))
		q.asked = max(0, q.asked-left)
		q.wait.Reset()
		q.ask()
	default:
		q.rest(fmt.Errorf("%s %s", status, msg.Header.Get("Description")))
	}
}

// look forgets requests that nothing is heard of, and asks again. Somebody calls
// it every pulse.
func (q *queue) look() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.asked > 0 && !q.resting && time.Since(q.heard) > 2*pulse+pulse/2 && q.nc.IsConnected() {
		q.rest(errors.New("nothing is heard of the server"))
	}
	q.ask()
}

// rest begins a new round, in a while.
func (q *queue) rest(err error) {
	if q.stopped {
		return
	}
	q.log.Warn("cannot take work; trying again", "error", err)
	q.asked, q.resting = 0, true
	q.round++
	time.AfterFunc(q.wait.NextBackOff(), func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.resting = false
		q.ask()
	})
}

// stop takes no more work, and gives back what is on its way.
func (q *queue) stop() {
	q.mu.Lock()
	q.stopped = true
	q.mu.Unlock()
	if !q.nc.IsConnected() || q.sub.Drain() != nil { // nothing comes
		_ = q.sub.Unsubscribe()
	}
	select {
	case <-q.ended:
	case <-time.After(parting): // the server does not answer: nothing comes either
	}
	for {
		select {
		case msg := <-q.work:
			q.giveBack(msg)
		default:
			return
		}
	}
}

func (q *queue) giveBack(msg *nats.Msg) {
	if err := (delivery{msg}).nak(0); err != nil {
		q.log.Warn("acknowledgement lost", "subject", msg.Subject, "error", err)
	}
}
