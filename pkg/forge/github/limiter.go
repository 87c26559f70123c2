package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/gohugoio/httpcache"

	"github.com/signalbox/signalbox/pkg/engine/allowance"
	"github.com/signalbox/signalbox/pkg/forge"
)

// defaultPace is the pause between two writes that GitHub asks for.
const defaultPace = time.Second

// paceFor returns the pause between two writes: the configured one, else none for a forge
// on this machine, which has no such limit.
func paceFor(pace time.Duration, host string) time.Duration {
	if pace != 0 {
		return max(pace, 0)
	}
	name := (&url.URL{Host: host}).Hostname()
	if ip := net.ParseIP(name); name == "localhost" || ip != nil && ip.IsLoopback() {
		return 0
	}
	return defaultPace
}

// limiter holds what is sent within what the forge permits each holder of a token. It
// waits for a short time; a request that would wait longer fails with a *forge.RateLimit
// and is not sent. Of a request that the forge has refused because of a limit it knows that
// it had no effect.
type limiter struct {
	of    string        // what tells the holders here from those of other forges
	pace  time.Duration // between two writes; 0: none
	short time.Duration // that is waited at most

	mu      sync.Mutex
	sharing Sharing // nil: none
	holders holdings
	counts  map[count]int
	fault   string // of the newest answer, one of the faults below; empty: none
}

// count is what became of requests.
type count struct{ kind, result string }

// The results of requests.
const (
	wasCounted   = "counted"   // answered, and counted by the forge in its limit
	wasUnchanged = "unchanged" // answered as not changed, which is not counted
	wasShared    = "shared"    // not sent: an equal one was answered
	wasLimited   = "limited"   // not sent, or refused, because of a limit
	wasDenied    = "denied"    // refused, for the credentials are not taken
	wasError     = "error"     // answered with a fault of the forge, a status of 5xx
	wasSilent    = "silent"    // not answered
)

// The faults of a forge, as labels of its metric.
const (
	faultDenied = "denied" // it does not take the credentials
	faultError  = "error"  // it answers with an error of its own, a status of 5xx
	faultSilent = "silent" // it does not answer
)

func newLimiter(of string, pace, short time.Duration) *limiter {
	return &limiter{of: of, pace: pace, short: short, holders: holdings{pace, map[string]*holding{}}, counts: noCounts()}
}

// noCounts returns each count with 0, so that an alert sees the first of a kind as well.
func noCounts() map[count]int {
	all := map[count]int{}
	for _, kind := range []string{"read", "write", "query"} {
		for _, result := range []string{wasCounted, wasUnchanged, wasShared, wasLimited, wasDenied, wasError, wasSilent} {
			all[count{kind, result}] = 0
		}
	}
	return all
}

// around returns a transport that sends by next what the forge permits.
func (l *limiter) around(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		s, who := sendingOf(r), holder(r)
		latest, slot := time.Now().Add(l.short), false
		for {
			if err := l.settled(who, s, r.URL.Path); err != nil {
				return nil, err
			}
			if err := l.admit(r.Context(), who, s, latest, &slot); err != nil {
				return nil, err
			}
			again, err := rewound(r)
			if err != nil {
				return nil, err
			}
			resp, err := next.RoundTrip(again)
			if err == nil && s.Creates {
				resp, err = whole(resp) // half an answer is a lost one
			}
			if err != nil {
				l.lost(who, s, r.URL.Path)
				if r.Context().Err() == nil { // else the caller gave up
					l.setFault(faultSilent)
				}
				l.countResult(s, wasSilent)
				return nil, err
			}
			if resp.StatusCode >= http.StatusInternalServerError {
				l.lost(who, s, r.URL.Path)
			}
			limit, news, err := l.note(who, s, resp)
			l.tell(r.Context(), who, news)
			switch {
			case err != nil:
				return nil, err
			case limit == nil:
				// go-github keeps one account of limits a client, not one a holder, and none of
				// answers that it takes for cached.
				resp.Header.Set(httpcache.XFromCache, "1")
				return resp, nil
			case limit.Until.After(latest):
				return nil, limit
			}
			slot = false
		}
	})
}

// admit waits until the request can be sent, not after latest. slot is whether the request
// has its place in the lanes already.
func (l *limiter) admit(ctx context.Context, who string, s sending, latest time.Time, slot *bool) error {
	for {
		at, limit := l.reserve(ctx, who, s, latest, slot)
		wait := time.Until(at)
		if limit != nil {
			if limit.Until.After(latest) {
				l.countResult(s, wasLimited)
				return limit
			}
			wait = time.Until(limit.Until)
		} else if wait <= 0 {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// reserve returns the limit that the request must wait for, else when its place in the
// lanes is. It takes that place once.
func (l *limiter) reserve(ctx context.Context, who string, s sending, latest time.Time, slot *bool) (time.Time, *forge.RateLimit) {
	if with := l.shared(); with != nil && s.Writes && !*slot {
		if at, limit, ok := l.agree(ctx, with, who, s, latest); ok {
			*slot = limit == nil
			return at, limit
		}
	}
	return l.place(who, s, latest, slot)
}

// place is reserve within the own account.
func (l *limiter) place(who string, s sending, latest time.Time, slot *bool) (time.Time, *forge.RateLimit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, now := l.holders.of(who), time.Now()
	if *slot {
		return now, rateLimit(h.Blocked(s, now))
	}
	at, limit := h.look(s, now, latest)
	if limit == nil {
		h.Record(s, at)
		*slot = true
	}
	return at, limit
}

// whole reads an answer to its end.
func whole(resp *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// settling is how long a forge's lists may be older than its newest object.
const settling = 15 * time.Second

// lost notes that something may have been created although its answer was lost.
func (l *limiter) lost(who string, s sending, path string) {
	if !s.Creates || l.pace == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a, now := l.holders.of(who), time.Now()
	maps.DeleteFunc(a.lost, func(_ string, until time.Time) bool { return !until.After(now) })
	a.lost[path] = now.Add(settling)
}

// settled refuses to create something in a place where that may have happened already and
// lists need not show it yet. The caller looks again after that time.
func (l *limiter) settled(who string, s sending, path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := l.holders.of(who).lost[path]
	if !s.Creates || !until.After(time.Now()) {
		return nil
	}
	l.counts[count{kindOf(s), wasLimited}]++
	return &forge.RateLimit{Until: until, Message: "an answer was lost, and what was written may not be seen yet"}
}

// note takes in an answer. It returns the limit that it says is reached, and closes it then.
// news is the limit to publish to others.
func (l *limiter) note(who string, s sending, resp *http.Response) (limit *forge.RateLimit, news *allowance.Limit, err error) {
	var body []byte
	if resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusTooManyRequests {
		if body, err = io.ReadAll(io.LimitReader(resp.Body, maxRefusal)); err != nil {
			return nil, nil, errors.Join(err, resp.Body.Close())
		}
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(body))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	limit, news = l.holders.of(who).note(s, resp.StatusCode, resp.Header, body, time.Now())
	l.fault = ""
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		l.fault = faultDenied
		l.counts[count{kindOf(s), wasDenied}]++
	case resp.StatusCode >= http.StatusInternalServerError:
		l.fault = faultError
		l.counts[count{kindOf(s), wasError}]++
	case limit != nil:
		l.counts[count{kindOf(s), wasLimited}]++
	case resp.Header.Get(httpcache.XFromCache) != "":
		l.counts[count{kindOf(s), wasUnchanged}]++
	default:
		l.counts[count{kindOf(s), wasCounted}]++
	}
	return limit, news, nil
}

// setFault notes the fault of the newest request.
func (l *limiter) setFault(fault string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = fault
}

// newestFault returns the fault of the newest request, "" if there is none.
func (l *limiter) newestFault() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

// maxRefusal is how many bytes of a refusal are read.
const maxRefusal = 64 << 10

// countResult counts what became of a request.
func (l *limiter) countResult(s sending, result string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[count{kindOf(s), result}]++
}

// holdings are what the forge permits each holder of a token. It has no lock: limiter has.
type holdings struct {
	pace     time.Duration
	byHolder map[string]*holding
}

// of returns what a holder may request. It makes that, and removes those that are idle, if
// the holder has none.
func (all holdings) of(holder string) *holding {
	h := all.byHolder[holder]
	if h == nil {
		maps.DeleteFunc(all.byHolder, func(_ string, old *holding) bool { return old.Idle(time.Now()) })
		h = newHolding(all.pace)
		all.byHolder[holder] = h
	}
	return h
}

// Limit is how far one holder of a token, or one installation of the App, is from a limit.
type Limit struct {
	Who      string // "token", or the installation
	Resource string // core or graphql
	Limit    int    // requests an hour
	Left     int
	Reset    time.Time // when the hour ends
}

// Limits returns the limits that the forge has reported, and until when nothing at all is
// sent: the zero time if nothing stops it.
func (c *Client) Limits() (all []Limit, until time.Time) {
	c.limiter.mu.Lock()
	defer c.limiter.mu.Unlock()
	now, newest := time.Now(), map[string]Limit{}
	for who, a := range c.limiter.holders.byHolder {
		for resource, r := range a.Rates(now) {
			key := nameOf(who) + " " + resource
			if r.Reset.After(newest[key].Reset) {
				newest[key] = Limit{nameOf(who), resource, r.Limit, r.Left, r.Reset}
			}
		}
		if stopped := a.Stopped(); stopped.After(now) && stopped.After(until) {
			until = stopped
		}
	}
	for _, key := range slices.Sorted(maps.Keys(newest)) {
		all = append(all, newest[key])
	}
	return all, until
}

// holderKey is the key of whom the token of a request stands for.
type holderKey struct{}

// holder returns whom the token of a request stands for, "" for the App itself or nobody.
func holder(r *http.Request) string {
	who, _ := r.Context().Value(holderKey{}).(string)
	return who
}

// sendingOf returns what a request is.
func sendingOf(r *http.Request) sending {
	s := sending{Resource: resourceOf(r), Keep: keep(forge.UrgencyOf(r.Context()))}
	switch {
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
	case s.Resource == "graphql":
		s.Writes = r.Context().Value(mutationKey{}) != nil
	default:
		s.Writes, s.Creates = true, r.Method == http.MethodPost
	}
	return s
}

// mutationKey is the key of requests to GraphQL that write.
type mutationKey struct{}

// kindOf is the name of such requests in metrics.
func kindOf(s sending) string {
	switch {
	case s.Writes:
		return "write"
	case s.Resource == "graphql":
		return "query"
	}
	return "read"
}

// rewound returns the request with its body from the beginning.
func rewound(r *http.Request) (*http.Request, error) {
	if r.GetBody == nil {
		return r, nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", forge.ErrInvalid, err)
	}
	r = r.Clone(r.Context())
	r.Body = body
	return r, nil
}

// sums returns what became of the requests until now.
func (l *limiter) sums() map[count]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.counts)
}
