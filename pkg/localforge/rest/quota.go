package rest

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Secondary is the limit on accounts that write fast.
type Secondary struct {
	Writes int           // that an account may make within that time; 0: there is no limit
	Within time.Duration // 0: a minute
	Status int           // of the refusal; 0: 403
	Silent bool          // the refusal has neither Retry-After nor the link to the documentation
}

// quota counts every account's requests in the current hour, by resource, and what it
// writes. A restart resets it.
type quota struct {
	mu      sync.Mutex
	windows map[counter]window
	writes  map[int64]window
}

// counter names one count of requests.
type counter struct {
	account  int64
	resource string // core or graphql
}

type window struct {
	limit, used int
	reset       time.Time
}

func (w window) remaining() int { return max(w.limit-w.used, 0) }

// counterOf returns what a request of the account is counted in.
func counterOf(r *http.Request, account int64) counter {
	if strings.HasSuffix(r.URL.Path, "/graphql") {
		return counter{account, "graphql"}
	}
	return counter{account, "core"}
}

// count takes one request from the quota and reports whether one was left.
func (q *quota) count(h http.Header, of counter, now time.Time, limit int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.windows[of]
	if !now.Before(w.reset) {
		w = window{limit: limit, reset: now.Add(time.Hour)}
	}
	ok := w.used < w.limit
	w.used = min(w.used+1, w.limit)
	q.set(h, of, w)
	return ok
}

// refund gives back a request that was answered with "not modified".
func (q *quota) refund(h http.Header, of counter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.windows[of]
	w.used--
	q.set(h, of, w)
}

func (q *quota) set(h http.Header, of counter, w window) {
	if q.windows == nil {
		q.windows = map[counter]window{}
	}
	q.windows[of] = w
	h.Set("X-RateLimit-Limit", strconv.Itoa(w.limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(w.remaining()))
	h.Set("X-RateLimit-Used", strconv.Itoa(w.used))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(w.reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", of.resource)
}

// write counts a request that writes. It returns the refusal of one too many.
func (q *quota) write(h http.Header, account int64, now time.Time, s Secondary) error {
	if s.Writes == 0 {
		return nil
	}
	if s.Within == 0 {
		s.Within = time.Minute
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.writes[account]
	if !now.Before(w.reset) {
		w = window{limit: s.Writes, reset: now.Add(s.Within)}
	}
	w.used++
	if q.writes == nil {
		q.writes = map[int64]window{}
	}
	q.writes[account] = w
	if w.used <= w.limit {
		return nil
	}
	refusal := &failure{status: http.StatusForbidden, message: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}
	if s.Status != 0 {
		refusal.status = s.Status
	}
	if s.Silent {
		refusal.documentation = "-"
	} else {
		refusal.documentation = documentation + "/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"
		h.Set("Retry-After", strconv.Itoa(int(w.reset.Sub(now)/time.Second)+1))
	}
	return refusal
}

// refunding calls refund if the answer is "not modified".
type refunding struct {
	http.ResponseWriter
	refund func()
}

func (r *refunding) WriteHeader(status int) {
	if status == http.StatusNotModified {
		r.refund()
	}
	r.ResponseWriter.WriteHeader(status)
}
