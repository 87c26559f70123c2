package rest

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// quota counts every account's requests in the current hour. A restart resets it.
type quota struct {
	mu      sync.Mutex
	windows map[int64]window
}

type window struct {
	limit, used int
	reset       time.Time
}

func (w window) remaining() int { return max(w.limit-w.used, 0) }

// count takes one request from the account's quota and reports whether one was left.
func (q *quota) count(h http.Header, account int64, now time.Time, limit int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.windows[account]
	if !now.Before(w.reset) {
		w = window{limit: limit, reset: now.Add(time.Hour)}
	}
	ok := w.used < w.limit
	w.used = min(w.used+1, w.limit)
	q.set(h, account, w)
	return ok
}

// refund gives back a request that was answered with "not modified".
func (q *quota) refund(h http.Header, account int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.windows[account]
	w.used--
	q.set(h, account, w)
}

func (q *quota) set(h http.Header, account int64, w window) {
	if q.windows == nil {
		q.windows = map[int64]window{}
	}
	q.windows[account] = w
	h.Set("X-RateLimit-Limit", strconv.Itoa(w.limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(w.remaining()))
	h.Set("X-RateLimit-Used", strconv.Itoa(w.used))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(w.reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", "core")
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
