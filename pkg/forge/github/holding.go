package github

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/allowance"
	"github.com/signalbox/signalbox/pkg/forge"
)

// holding is what one holder of a token may request, and what its answers have told. Its
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

// note takes in what an answer says, and returns the limit that it says is reached.
func (h *holding) note(s sending, status int, header http.Header, body []byte, now time.Time) *forge.RateLimit {
	resource := cmp.Or(header.Get("X-RateLimit-Resource"), s.Resource)
	most, err := strconv.Atoi(header.Get("X-RateLimit-Limit"))
	left, errLeft := strconv.Atoi(header.Get("X-RateLimit-Remaining"))
	reset, told := resetOf(header, now)
	if err == nil && errLeft == nil && told {
		h.Count(resource, allowance.Rate{Limit: most, Left: left, Reset: reset})
	}
	limit, primary := limitOf(status, header, body, h.untold, now)
	if limit == nil {
		if status < http.StatusInternalServerError {
			h.untold = 0
		}
		return nil
	}
	met := allowance.Limit{Until: limit.Until, Words: limit.Message}
	if primary {
		met.Resource, met.Hour = resource, most
	} else if _, told := retryAfter(header, now); !told {
		h.untold++
	}
	h.Reach(met, now)
	return limit
}
