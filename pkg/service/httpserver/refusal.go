package httpserver

import (
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/pkg/base/pacing"
)

// Refusals logs the refused requests of one port, a line a reason every pacing.SeldomEvery,
// and counts each. It is safe for concurrent use.
type Refusals struct {
	log    *slog.Logger
	count  func(why string)
	seldom pacing.Seldom[string]
}

// NewRefusals returns the refusals of a port. count gets the reason of each refusal, one of
// few texts; nil: refusals are not counted.
func NewRefusals(log *slog.Logger, count func(why string)) *Refusals {
	if count == nil {
		count = func(string) {}
	}
	return &Refusals{log: log, count: count}
}

// Note logs and counts a refusal.
func (f *Refusals) Note(r *http.Request, why string) {
	f.count(why)
	if more, now := f.seldom.Note(why, time.Now()); now {
		f.log.Warn("request refused", "why", why, "path", fmt.Sprintf("%.64q", r.URL.Path), "host", fmt.Sprintf("%.64q", r.Host),
			"origin", fmt.Sprintf("%.64q", r.Header.Get("Origin")), "from", r.RemoteAddr, "not_logged_before", more)
	}
}
