package github

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/allowance"
	"github.com/signalbox/signalbox/pkg/forge"
)

// holding is what one holder of a token may request, and the limits that its answers have shown. Its
// methods read no clock.
type holding struct {
	*allowance.Holder
	untold int                  // limits without a time, one after the other
	lost   map[string]time.Time // by path: until when something may be there that no list shows
}

func newHolding(pace time.Duration) *holding {
	return &holding{Holder: allowance.NewHolder(pace), lost: map[string]time.Time{}}
}

// sending is a request as an allowance sees it.
type sending = allowance.Request

// keep is the part of an hour's requests that is left to more urgent ones than these, as
// allowance.Request has it.
func keep(u forge.Urgency) int {
	switch u {
	case forge.Background:
		return 5
	case forge.Urgent:
		return 0
	}
	return 20
}

// rateLimit returns a limit as callers know it, nil for none.
func rateLimit(l *allowance.Limit) *forge.RateLimit {
	if l == nil {
		return nil
	}
	return &forge.RateLimit{Until: l.Until, Message: l.Words}
}

// look returns the limit that a request must wait for, else when its place in the lanes is.
func (h *holding) look(s sending, now, latest time.Time) (time.Time, *forge.RateLimit) {
	if limit := h.Blocked(s, now); limit != nil {
		return now, rateLimit(limit)
	}
	at := h.Free(s, now)
	if at.After(now) && at.After(latest) { // a lane that is free now needs no waiting, however late it is
		return at, tooMuch(at)
	}
	return at, nil
}

// tooMuch is the limit of lanes that are free too late.
func tooMuch(at time.Time) *forge.RateLimit {
	return &forge.RateLimit{Until: at, Message: "more is to be written than the forge permits in this time"}
}

// note takes in what an answer says, and returns the limit that it says is reached. news is
// what others do not know yet: a limit that stops even what is most urgent.
func (h *holding) note(s sending, status int, header http.Header, body []byte, now time.Time) (limit *forge.RateLimit, news *allowance.Limit) {
	resource := cmp.Or(header.Get("X-RateLimit-Resource"), s.Resource)
	before := h.Blocked(allowance.Request{Resource: resource}, now)
	most, err := strconv.Atoi(header.Get("X-RateLimit-Limit"))
	left, errLeft := strconv.Atoi(header.Get("X-RateLimit-Remaining"))
	reset, told := resetOf(header, now)
	if err == nil && errLeft == nil && told {
		h.Count(resource, allowance.Rate{Limit: most, Left: left, Reset: reset})
	}
	limit, primary := limitOf(status, header, body, h.untold, now)
	switch _, told := retryAfter(header, now); {
	case limit == nil && status < http.StatusInternalServerError:
		h.untold = 0
	case limit == nil:
	case primary:
		h.Reach(allowance.Limit{Resource: resource, Until: limit.Until, Hour: most}, now)
	default:
		if !told {
			h.untold++
		}
		h.Reach(allowance.Limit{Until: limit.Until, Words: limit.Message}, now)
	}
	news = h.Blocked(allowance.Request{Resource: resource}, now)
	if news != nil && before != nil && !news.Until.After(before.Until.Add(time.Second)) {
		news = nil
	}
	return limit, news
}
