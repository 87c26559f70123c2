// Package standby elects the active one of several orchestrators; the others stand by.
//
// The election saves work and is no lock. Two orchestrators may be active for a while: the log's
// expected sequences keep their appends correct.
package standby

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

const (
	// pollInterval is the time between two requests of an orchestrator that stands by. It is also how
	// long no orchestrator has to be active before that one activates itself.
	pollInterval = 100 * time.Millisecond
	// reconnectGrace replaces pollInterval after the connection was lost: the others reconnect, too.
	reconnectGrace = 2 * time.Second
	// replyTimeout bounds the wait for the active orchestrator's reply: it may be paused, or cut off.
	replyTimeout = 2 * time.Second
	// maxStandBys bounds how many orchestrators that stand by are counted.
	maxStandBys = 100
)

// Watermark is the highest sequence that is known to be in the log. The active orchestrator's replies
// raise it, so that an orchestrator that is activated later can tell whether the log was truncated.
type Watermark interface {
	// Known returns the watermark.
	Known() uint64
	// Know raises the watermark to seq, if it is lower.
	Know(seq uint64)
}

// Elector finds out whether another orchestrator is active, and activates its own. Its methods may be
// called from any goroutine.
type Elector struct {
	nc        *nats.Conn
	watermark Watermark
	id        string

	mu    sync.Mutex
	asked map[string]time.Time // when others that stand by asked last, by their ids
}

// NewElector returns the elector of one orchestrator.
func NewElector(nc *nats.Conn, w Watermark) *Elector {
	return &Elector{nc: nc, watermark: w, id: nuid.Next(), asked: map[string]time.Time{}}
}

// StandBys returns how many orchestrators stand by for this one, which is active.
func (e *Elector) StandBys() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.asked, func(_ string, at time.Time) bool { return time.Since(at) > 2*replyTimeout })
	return len(e.asked)
}

// note takes in that another orchestrator stands by. Of very many none is noted.
func (e *Elector) note(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.asked) < maxStandBys {
		e.asked[id] = time.Now()
	}
}

// announcement is what an orchestrator sends about itself, in requests and in replies.
type announcement struct {
	ID    string `json:"id"`
	Since int64  `json:"since,omitempty"` // start of its term in Unix nanoseconds; 0 while it stands by
	Known uint64 `json:"known,omitempty"` // the watermark of an active orchestrator
}

// outranks reports whether a's term began before b's. The ID decides between equal times.
func (a announcement) outranks(b announcement) bool {
	switch {
	case b.Since == 0:
		return true
	case a.Since != b.Since:
		return a.Since < b.Since
	}
	return a.ID < b.ID
}

// HasActive reports whether another orchestrator is active.
func (e *Elector) HasActive(ctx context.Context) bool {
	return e.findActive(ctx, announcement{ID: e.id}) == nil
}

// WaitInactive returns nil when no orchestrator is active, or ctx's error.
func (e *Elector) WaitInactive(ctx context.Context) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	var inactiveSince time.Time // zero while an orchestrator is active
	wait, reconnects := pollInterval, e.nc.Stats().Reconnects
	for {
		asked := time.Now()
		switch n := e.nc.Stats().Reconnects; {
		case !e.nc.IsConnected() || n != reconnects:
			inactiveSince, wait = time.Time{}, reconnectGrace
			reconnects = n
		case e.HasActive(ctx):
			inactiveSince, wait = time.Time{}, pollInterval
		default:
			if inactiveSince.IsZero() {
				inactiveSince = asked
			}
			if time.Since(inactiveSince) >= wait && ctx.Err() == nil {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// findActive asks for an active orchestrator that outranks own. It returns nil if one replies, and
// raises the watermark to that orchestrator's.
func (e *Elector) findActive(ctx context.Context, own announcement) error {
	data, err := json.Marshal(own)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	reply, err := e.nc.RequestWithContext(ctx, subject.ActiveOrchestrator, data)
	if err != nil {
		return err
	}
	var active announcement
	if err := json.Unmarshal(reply.Data, &active); err != nil {
		return fmt.Errorf("decode the announcement of the active orchestrator: %w", err)
	}
	e.watermark.Know(active.Known)
	return nil
}

// Term is the time during which an orchestrator is active.
type Term struct {
	elector *Elector
	own     announcement
	sub     *nats.Subscription
}

// Activate begins a term: from now on this orchestrator replies to the others. The caller ends the term.
func (e *Elector) Activate() (*Term, error) {
	t := &Term{elector: e, own: announcement{ID: e.id, Since: time.Now().UnixNano()}}
	var err error
	if t.sub, err = e.nc.Subscribe(subject.ActiveOrchestrator, t.reply); err != nil {
		return nil, fmt.Errorf("announce the active orchestrator: %w", err)
	}
	if err := e.nc.FlushTimeout(replyTimeout); err != nil {
		t.End()
		return nil, fmt.Errorf("announce the active orchestrator: %w", err)
	}
	return t, nil
}

// reply answers an orchestrator that this one outranks. NATS calls it.
func (t *Term) reply(m *nats.Msg) {
	var other announcement
	if json.Unmarshal(m.Data, &other) != nil || other.ID == t.own.ID || !t.own.outranks(other) {
		return
	}
	if other.Since == 0 {
		t.elector.note(other.ID)
	}
	own := t.own
	own.Known = t.elector.watermark.Known()
	if data, err := json.Marshal(own); err == nil {
		_ = m.Respond(data) // a lost reply is asked for again
	}
}

// Superseded returns nil when another active orchestrator outranks this one, which can happen after a
// pause or a network partition. It returns ctx's error when ctx ends, and nats.ErrConnectionClosed.
func (t *Term) Superseded(ctx context.Context) error {
	for {
		asked := time.Now()
		err := t.elector.findActive(ctx, t.own)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, nats.ErrConnectionClosed) {
			return err
		}
		select {
		case <-time.After(replyTimeout - time.Since(asked)): // a request may fail at once
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// End ends the term: this orchestrator no longer replies to the others. It may be called again.
func (t *Term) End() { _ = t.sub.Unsubscribe() } // fails only if the connection is closed
