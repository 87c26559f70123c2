package jetstream

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/subject"
)

// inboxes is what every subject that a server answers at begins with.
const inboxes = "_INBOX."

// mistrust is for how long no append has a witness after one whose acknowledgement
// did not come: there may be nobody who forwards it.
const mistrust = time.Minute

// witnesses has appends be acknowledged where a witness hears it, too: at
//
//	_INBOX.<who>.<what>.<store>.<number>
//
// of which <store>.<number> is the store's, and what stands before it the witness's.
type witnesses struct {
	conn *nats.Conn

	mu      sync.Mutex
	sub     *nats.Subscription // nil before the first
	name    string             // of the store in these subjects
	last    uint64
	waiting map[string]chan *nats.Msg // by number
	until   time.Time                 // not before
	closed  bool                      // and no more
}

// ticket returns the end of the subject where an append is acknowledged, and where
// that is told then. It is empty if there cannot be a witness there.
func (w *witnesses) ticket(by *eventstore.Witness) (at string, told chan *nats.Msg) {
	if by == nil || !isInbox(by.Inbox) {
		return "", nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || time.Now().Before(w.until) || !w.listens() {
		return "", nil
	}
	w.last++
	number := strconv.FormatUint(w.last, 36)
	told = make(chan *nats.Msg, 1)
	w.waiting[number] = told
	return w.name + "." + number, told
}

// isInbox reports whether all is heard of that is acknowledged below s. A server
// answers at no subject with an empty token.
func isInbox(s string) bool {
	who, what, ok := strings.Cut(strings.TrimPrefix(s, inboxes), ".")
	return strings.HasPrefix(s, inboxes) && ok && who != "" && what != "" && !strings.Contains(what, ".")
}

func (w *witnesses) listens() bool {
	if w.sub == nil {
		w.name, w.waiting = rand.Text()[:10], map[string]chan *nats.Msg{}
		w.sub, _ = w.conn.Subscribe(inboxes+"*.*."+w.name+".*", w.hear) // else there are no witnesses
	}
	return w.sub != nil
}

// close has no more appends have witnesses. Those on their way are still heard of:
// a store may be closed while who appends is about to end.
func (w *witnesses) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.leave()
}

// leave stops listening when it is closed and nobody waits.
func (w *witnesses) leave() {
	if w.closed && len(w.waiting) == 0 && w.sub != nil {
		_ = w.sub.Unsubscribe() // else the connection is closed
		w.sub = nil
	}
}

func (w *witnesses) hear(m *nats.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	number := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	if told := w.waiting[number]; told != nil {
		delete(w.waiting, number)
		told <- m
		w.leave()
	}
}

// forget gives a ticket up.
func (w *witnesses) forget(at string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.waiting, at[strings.IndexByte(at, '.')+1:])
	w.until = time.Now().Add(mistrust)
	w.leave()
}

// witnessed is request before a witness, if there can be one.
func (s *Store) witnessed(ctx context.Context, m *nats.Msg, by *eventstore.Witness) (ack, error) {
	at, told := s.witnesses.ticket(by)
	if at == "" {
		return s.request(ctx, m)
	}
	if err := s.witnesses.conn.PublishMsg(&nats.Msg{Subject: m.Subject, Reply: by.Inbox + "." + at, Header: m.Header, Data: m.Data}); err != nil {
		s.witnesses.forget(at)
		return ack{}, err
	}
	knows := by.Sent(at)
	select {
	case answer := <-told:
		if len(answer.Data) == 0 && answer.Header.Get("Status") == "503" {
			return ack{}, nats.ErrNoResponders
		}
		if _, stored := subject.Stored(answer.Data); stored && knows {
			by.Heard = at
		}
		return acknowledged(answer)
	case <-ctx.Done():
		s.witnesses.forget(at)
		return ack{}, ctx.Err()
	}
}
