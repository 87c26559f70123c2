package github

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/allowance"
	"github.com/signalbox/signalbox/pkg/forge"
)

// Sharing is the account of the forge's limits that several processes keep together.
type Sharing interface {
	// Ask takes a place in it, and tells it of limits. After an error the client keeps to its
	// own account.
	Ask(ctx context.Context, a allowance.Ask) (allowance.Answer, error)
}

// Paced reports whether the forge has limits on writes. Without them there is nothing to share.
func (c *Client) Paced() bool { return c.limiter.pace > 0 }

// Share has the client keep its account of the forge's limits together with other processes.
// Only writes ask for a place; a limit that an answer shows is published once.
func (c *Client) Share(with Sharing) {
	if c.Paced() {
		c.limiter.share(with)
	}
}

// Heed takes in limits that others have reported. holder is the name that Ask has.
func (c *Client) Heed(holder string, limits []allowance.Limit) { c.limiter.heed(holder, limits) }

func (l *limiter) share(with Sharing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sharing = with
}

// shared returns the account that is shared, nil for none.
func (l *limiter) shared() Sharing {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sharing
}

// name returns the name of a holder for others. Every process with the token has the same.
func (l *limiter) name(holder string) string { return allowance.Name(l.of, holder) }

func (l *limiter) heed(name string, limits []allowance.Limit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for who, h := range l.holders.byHolder {
		if l.name(who) == name {
			h.heed(limits, time.Now())
		}
	}
}

func (h *holding) heed(limits []allowance.Limit, now time.Time) {
	for _, l := range limits {
		h.Reach(l, now)
	}
}

// tell publishes a limit to others. A process without the message finds out when it is refused.
func (l *limiter) tell(ctx context.Context, who string, limit *allowance.Limit) {
	with := l.shared()
	if with == nil || limit == nil {
		return
	}
	if answer, err := with.Ask(ctx, allowance.Ask{Holder: l.name(who), Told: []allowance.Limit{*limit}}); err == nil {
		l.heed(l.name(who), answer.Limits)
	}
}

// agree takes the place of a write in the account that is shared, and in the own one. It
// returns the limit that the write must wait for, else when its place is. ok is false if
// there is no answer.
func (l *limiter) agree(ctx context.Context, with Sharing, who string, s sending, latest time.Time) (at time.Time, limit *forge.RateLimit, ok bool) {
	after, limit := l.look(who, s, latest)
	if limit != nil {
		return after, limit, true
	}
	answer, err := with.Ask(ctx, allowance.Ask{Holder: l.name(who),
		Place: &allowance.Place{Creates: s.Creates, Pace: l.pace, After: after, Latest: latest}})
	if err != nil {
		return at, nil, false
	}
	limit = l.settle(who, s, answer)
	return answer.At, limit, true
}

// look returns the limit that a write must wait for by the own account, else when its place
// would be.
func (l *limiter) look(who string, s sending, latest time.Time) (time.Time, *forge.RateLimit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holders.of(who).look(s, time.Now(), latest)
}

// settle takes in the answer to a write. It returns the limit that the write must wait for.
func (l *limiter) settle(who string, s sending, answer allowance.Answer) *forge.RateLimit {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, now := l.holders.of(who), time.Now()
	h.heed(answer.Limits, now)
	limit := h.Blocked(s, now)
	switch {
	case limit == nil && answer.Taken:
		h.Record(s, answer.At)
	case limit == nil:
		return tooMuch(answer.At)
	}
	return rateLimit(limit)
}
