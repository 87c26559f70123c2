// Package allowance is what a forge permits each holder of a token. That is so many requests
// an hour of each resource, lanes of writes, and nothing while a secondary limit holds. It
// reads no clock: time is an argument.
package allowance

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Request is a request as an allowance sees it.
type Request struct {
	Resource string // that it is counted in
	Writes   bool
	Creates  bool // it writes something new
	// Keep leaves one of so many requests of an hour to more urgent ones; 0 leaves none.
	Keep int
}

// reserve is how many requests of an hour are left to more urgent ones.
func (r Request) reserve(limit int) int {
	if r.Keep == 0 {
		return 0
	}
	return limit / r.Keep
}

// Rate is what is left of a resource's hour.
type Rate struct {
	Limit, Left int
	Reset       time.Time
}

// Limit is one that is reached.
type Limit struct {
	Resource string    // that it is of; "" is all: a secondary limit
	Until    time.Time // nothing of that is sent before
	Words    string    // the forge's own
	Hour     int       // requests an hour that the resource has; 0: not known
}

// sameHour is how far two times of one hour's end may lie apart.
const sameHour = time.Minute

// Holder is what one holder of a token may request. It has no lock.
type Holder struct {
	rates map[string]Rate // by resource
	until time.Time       // nothing is sent before: a secondary limit
	why   string

	writes       lane // of everything that writes
	minute, hour lane // of what creates
}

// NewHolder returns what a holder may request of whom nothing is known. pace is the pause
// between two writes; with 0 there are no lanes.
func NewHolder(pace time.Duration) *Holder {
	return &Holder{
		rates: map[string]Rate{}, writes: lane{most: 1, within: pace},
		minute: lane{most: contentsAMinute, within: time.Minute}, hour: lane{most: contentsAnHour, within: time.Hour},
	}
}

// Blocked returns the limit that holds a request now, nil for none.
func (h *Holder) Blocked(r Request, now time.Time) *Limit {
	if h.until.After(now) {
		return &Limit{Until: h.until, Words: h.why}
	}
	hour, told := h.rates[r.Resource]
	reserve := r.reserve(hour.Limit)
	if !told || hour.Left > reserve || !hour.Reset.After(now) {
		return nil
	}
	words := fmt.Sprintf("%d of %d requests an hour are left", hour.Left, hour.Limit)
	if reserve > 0 && hour.Left > 0 {
		words += ", kept for what is more urgent"
	}
	return &Limit{Resource: r.Resource, Until: hour.Reset, Words: words, Hour: hour.Limit}
}

// Free returns when the lanes of the request are free.
func (h *Holder) Free(r Request, now time.Time) time.Time {
	at := now
	for _, l := range h.lanes(r) {
		if next := l.next(now); next.After(at) {
			at = next
		}
	}
	return at
}

// Record gives the request its place in the lanes.
func (h *Holder) Record(r Request, at time.Time) {
	for _, l := range h.lanes(r) {
		l.record(at)
	}
}

func (h *Holder) lanes(r Request) []*lane {
	switch {
	case h.writes.within <= 0:
		return nil
	case r.Creates:
		return []*lane{&h.writes, &h.minute, &h.hour}
	case r.Writes:
		return []*lane{&h.writes}
	}
	return nil
}

// Count takes in what an answer says is left of a resource's hour.
func (h *Holder) Count(resource string, told Rate) {
	was := h.rates[resource]
	if was.Reset.Sub(told.Reset).Abs() < sameHour { // answers may come in another order
		told.Left = min(told.Left, was.Left)
	}
	if was.Reset.Before(told.Reset.Add(sameHour)) {
		h.rates[resource] = told
	}
}

// Reach takes in a limit. It reports whether requests are put off by it that were not before.
func (h *Holder) Reach(l Limit, now time.Time) (news bool) {
	was := h.Blocked(Request{Resource: l.Resource}, now)
	news = was == nil || l.Until.After(was.Until.Add(time.Second))
	if l.Resource == "" {
		if l.Until.After(h.until) {
			h.until, h.why = l.Until, l.Words
		}
		return news
	}
	hour := h.rates[l.Resource]
	if !l.Until.After(hour.Reset.Add(-sameHour)) { // the hour is known better
		return false
	}
	if hour.Reset.After(l.Until) {
		l.Until = hour.Reset
	}
	h.rates[l.Resource] = Rate{max(hour.Limit, l.Hour), 0, l.Until}
	return news
}

// Limits returns the limits that are reached now.
func (h *Holder) Limits(now time.Time) (all []Limit) {
	if h.until.After(now) {
		all = append(all, Limit{Until: h.until, Words: h.why})
	}
	for _, resource := range slices.Sorted(maps.Keys(h.rates)) {
		if r := h.rates[resource]; r.Left <= 0 && r.Reset.After(now) {
			all = append(all, Limit{Resource: resource, Until: r.Reset, Hour: r.Limit})
		}
	}
	return all
}

// Rates returns what is left, by resource. Hours that are over have all of it.
func (h *Holder) Rates(now time.Time) map[string]Rate {
	all := maps.Clone(h.rates)
	for resource, r := range all {
		if !r.Reset.After(now) {
			r.Left = r.Limit
			all[resource] = r
		}
	}
	return all
}

// Stopped returns until when nothing is sent because of a secondary limit.
func (h *Holder) Stopped() time.Time { return h.until }

// Idle reports whether the holder says nothing any more that a new one would not: that
// of a token that was replaced.
func (h *Holder) Idle(now time.Time) bool {
	for _, r := range h.rates {
		if r.Reset.After(now) {
			return false
		}
	}
	for _, l := range []*lane{&h.writes, &h.minute, &h.hour} {
		if !l.idle(now) {
			return false
		}
	}
	return !h.until.After(now)
}
