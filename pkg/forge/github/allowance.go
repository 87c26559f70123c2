package github

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
)

// GitHub's limits on who writes, per account: content is what is created.
const (
	contentsAMinute = 80
	contentsAnHour  = 500
)

// lane spaces requests: at most so many within any period of the length.
type lane struct {
	most   int
	within time.Duration
	at     []time.Time // the latest, in order
}

// next returns when the lane is free.
func (l *lane) next(now time.Time) time.Time {
	if len(l.at) < l.most {
		return now
	}
	if free := l.at[len(l.at)-l.most].Add(l.within); free.After(now) {
		return free
	}
	return now
}

// record counts a request at that time.
func (l *lane) record(at time.Time) {
	l.at = append(l.at, at)
	l.at = l.at[max(0, len(l.at)-l.most):]
}

// rate is what is left of a resource's hour.
type rate struct {
	limit, left int
	reset       time.Time
}

// allowance is what one holder of a token may request. Its methods read no clock.
type allowance struct {
	rates  map[string]rate // by resource
	until  time.Time       // nothing is sent before: a secondary limit
	why    string
	untold int                  // limits without a time, one after the other
	lost   map[string]time.Time // by path: until when something may be there that no list shows

	writes   []*lane // of everything that writes
	contents []*lane // of what creates
}

func newAllowance(pace time.Duration) *allowance {
	a := &allowance{rates: map[string]rate{}, lost: map[string]time.Time{}}
	if pace > 0 {
		a.writes = []*lane{{most: 1, within: pace}}
		a.contents = []*lane{{most: contentsAMinute, within: time.Minute}, {most: contentsAnHour, within: time.Hour}}
	}
	return a
}

// sending is a request as an allowance sees it.
type sending struct {
	resource string
	urgency  forge.Urgency
	writes   bool
	creates  bool
}

// reserve is how many requests of an hour are left to more urgent ones.
func (s sending) reserve(limit int) int {
	switch s.urgency {
	case forge.Background:
		return limit / 5
	case forge.Urgent:
		return 0
	}
	return limit / 20
}

// blocked returns the limit because of which a request is not sent now, nil for none.
func (a *allowance) blocked(s sending, now time.Time) *forge.RateLimit {
	if a.until.After(now) {
		return &forge.RateLimit{Until: a.until, Message: a.why}
	}
	r, told := a.rates[s.resource]
	if reserve := s.reserve(r.limit); told && r.left <= reserve && r.reset.After(now) {
		words := fmt.Sprintf("%d of %d requests an hour are left", r.left, r.limit)
		if reserve > 0 && r.left > 0 {
			words += ", kept for what is more urgent"
		}
		return &forge.RateLimit{Until: r.reset, Message: words}
	}
	return nil
}

// free returns when the lanes of the request are free.
func (a *allowance) free(s sending, now time.Time) time.Time {
	at := now
	for _, l := range a.lanes(s) {
		if next := l.next(now); next.After(at) {
			at = next
		}
	}
	return at
}

func (a *allowance) record(s sending, at time.Time) {
	for _, l := range a.lanes(s) {
		l.record(at)
	}
}

func (a *allowance) lanes(s sending) []*lane {
	switch {
	case s.creates:
		return append(a.writes[:len(a.writes):len(a.writes)], a.contents...)
	case s.writes:
		return a.writes
	}
	return nil
}

// note takes in what an answer says, and returns the limit that it says is reached.
func (a *allowance) note(s sending, status int, header http.Header, body []byte, now time.Time) *forge.RateLimit {
	resource := cmp.Or(header.Get("X-RateLimit-Resource"), s.resource)
	most, err := strconv.Atoi(header.Get("X-RateLimit-Limit"))
	left, errLeft := strconv.Atoi(header.Get("X-RateLimit-Remaining"))
	reset, told := resetOf(header, now)
	if err == nil && errLeft == nil && told {
		was := a.rates[resource]
		if was.reset.Sub(reset).Abs() < time.Minute { // the same hour: answers may come in another order
			left = min(left, was.left)
		}
		if was.reset.Before(reset.Add(time.Minute)) {
			a.rates[resource] = rate{most, left, reset}
		}
	}
	limit, primary := limitOf(status, header, body, a.untold, now)
	if limit == nil {
		if status < http.StatusInternalServerError {
			a.untold = 0
		}
		return nil
	}
	if primary {
		if r := a.rates[resource]; limit.Until.After(r.reset) { // without a time, or a longer one
			a.rates[resource] = rate{max(r.limit, most), 0, limit.Until}
		}
		return limit
	}
	if _, told := retryAfter(header, now); !told {
		a.untold++
	}
	if limit.Until.After(a.until) {
		a.until, a.why = limit.Until, limit.Message
	}
	return limit
}

// idle reports whether the allowance says nothing any more that a new one would not: that
// of a token that was replaced.
func (a *allowance) idle(now time.Time) bool {
	for _, r := range a.rates {
		if r.reset.After(now) {
			return false
		}
	}
	for _, l := range a.contents {
		if n := len(l.at); n > 0 && l.at[n-1].Add(l.within).After(now) {
			return false
		}
	}
	return !a.until.After(now)
}
