// Package duty has one of several orchestrators answer while the others stand by.
// It is a matter of speed: that two answer for a while does no harm, for the log
// decides who of them appends.
package duty

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/signalbox/signalbox/pkg/subject"
)

const (
	// every is how often one who stands by asks, and for how long nobody has to be
	// on duty before it goes.
	every = 100 * time.Millisecond
	// settling is that time after the connection was lost: those of the others
	// come back, too.
	settling = 2 * time.Second
	// patience is how long the answer of one on duty is waited for: it may be
	// paused, or cut off.
	patience = 2 * time.Second
)

// Log is what of the log somebody knows who does not follow it: those on duty say
// how far it goes. One who goes on can tell by it if the log was cut short.
type Log interface {
	// Known is the newest commit that is known to be in the log.
	Known() uint64
	// Know says that the log goes so far.
	Know(seq uint64)
}

// Post is where an orchestrator stands by.
type Post struct {
	nc  *nats.Conn
	log Log
	id  string
}

// word is what orchestrators say of themselves.
type word struct {
	ID    string `json:"id"`
	Since int64  `json:"since,omitempty"` // on duty since then, in nanoseconds since 1970; 0 while it stands by
	Known uint64 `json:"known,omitempty"` // of one on duty: the log goes so far
}

// before reports whether w has been on duty for longer.
func (w word) before(o word) bool {
	switch {
	case o.Since == 0:
		return true
	case w.Since != o.Since:
		return w.Since < o.Since
	}
	return w.ID < o.ID
}

// New returns the post of one orchestrator.
func New(nc *nats.Conn, log Log) *Post { return &Post{nc, log, nuid.Next()} }

// Taken reports whether somebody is on duty.
func (p *Post) Taken(ctx context.Context) bool { return p.elder(ctx, word{ID: p.id}) == nil }

// Await returns when nobody is on duty, or with ctx's error.
func (p *Post) Await(ctx context.Context) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	var since time.Time // nobody was on duty
	calm, lost := every, p.nc.Stats().Reconnects
	for {
		asked := time.Now()
		switch n := p.nc.Stats().Reconnects; {
		case !p.nc.IsConnected() || n != lost:
			since, calm, lost = time.Time{}, settling, n
		case p.Taken(ctx):
			since, calm = time.Time{}, every
		default:
			if since.IsZero() {
				since = asked
			}
			if time.Since(since) >= calm && ctx.Err() == nil {
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

// elder asks for one who is on duty, and for longer than who asks. It returns nil
// if one answers.
func (p *Post) elder(ctx context.Context, who word) error {
	data, err := json.Marshal(who)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	reply, err := p.nc.RequestWithContext(ctx, subject.Duty, data)
	if err != nil {
		return err
	}
	var elder word
	if err := json.Unmarshal(reply.Data, &elder); err != nil {
		return fmt.Errorf("the word of one on duty: %w", err)
	}
	p.log.Know(elder.Known)
	return nil
}

// Turn is being on duty.
type Turn struct {
	post *Post
	word word
	sub  *nats.Subscription
}

// Take goes on duty: from now on others hear of it.
func (p *Post) Take() (*Turn, error) {
	t := &Turn{post: p, word: word{ID: p.id, Since: time.Now().UnixNano()}}
	var err error
	if t.sub, err = p.nc.Subscribe(subject.Duty, t.answer); err != nil {
		return nil, fmt.Errorf("go on duty: %w", err)
	}
	if err := p.nc.FlushTimeout(patience); err != nil {
		t.End()
		return nil, fmt.Errorf("go on duty: %w", err)
	}
	return t, nil
}

// answer tells one who asks that there is an elder, if that is so.
func (t *Turn) answer(m *nats.Msg) {
	var who word
	if json.Unmarshal(m.Data, &who) != nil || who.ID == t.word.ID || !t.word.before(who) {
		return
	}
	own := t.word
	own.Known = t.post.log.Known()
	if data, err := json.Marshal(own); err == nil {
		_ = m.Respond(data) // it will ask again
	}
}

// Relieved returns nil when somebody is found who has been on duty for longer, as
// may be after a pause or a cut, or ctx's error.
func (t *Turn) Relieved(ctx context.Context) error {
	for {
		began := time.Now()
		err := t.post.elder(ctx, t.word)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, nats.ErrConnectionClosed) {
			return err
		}
		select {
		case <-time.After(patience - time.Since(began)): // there was no connection
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// End leaves the post.
func (t *Turn) End() { _ = t.sub.Unsubscribe() } // else the connection is closed
