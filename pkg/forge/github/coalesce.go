package github

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/signalbox/signalbox/pkg/forge"
)

// coalescer lets equal reads share one answer. A read shares only a request that was not
// sent yet when it came. So its answer is never older than its question, and whoever reads
// back what it has written finds it.
type coalescer struct {
	mu    sync.Mutex
	reads map[readKey]turns
}

// readKey is the same for equal reads. One that stops earlier is not equal.
type readKey struct {
	key     string
	urgency forge.Urgency
}

// turns are the reads of one key: the one that is sent, and the one that comes next.
type turns struct{ sent, next *sharedRead }

type sharedRead struct {
	done   chan struct{} // closed when there is an answer, or none will be
	resp   *http.Response
	body   []byte
	err    error
	gaveUp bool // the one who was to send it has gone: others send another
}

// around returns a transport that sends by next. tell is called for each answer that is
// shared.
func (c *coalescer) around(next http.RoundTripper, tell func(*http.Request)) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		key := readKey{cacheKey(r), forge.UrgencyOf(r.Context())}
		if key.key == "" {
			return next.RoundTrip(r)
		}
		for {
			read, before, mine := c.join(key)
			if mine {
				return c.send(r, key, read, before, next)
			}
			if err := waitFor(r.Context(), read.done); err != nil {
				return nil, err
			}
			if !read.gaveUp {
				tell(r)
				return read.answer(r)
			}
		}
	})
}

// join returns the read to share. mine is whether the caller has to send it, once the one
// before it is answered; nil: there is none before.
func (c *coalescer) join(key readKey) (read, before *sharedRead, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.reads[key]
	if t.next != nil {
		return t.next, nil, false
	}
	read = &sharedRead{done: make(chan struct{})}
	if before = t.sent; before == nil {
		t.sent = read // nobody joins what is being sent
	} else {
		t.next = read
	}
	c.reads[key] = t
	return read, before, true
}

// send sends the read after the one before it.
func (c *coalescer) send(r *http.Request, key readKey, read, before *sharedRead, next http.RoundTripper) (*http.Response, error) {
	defer c.end(key, read)
	if before != nil {
		if err := waitFor(r.Context(), before.done); err != nil {
			read.gaveUp, read.err = true, err
			return nil, err
		}
		c.begin(key)
	}
	read.resp, read.err = next.RoundTrip(r)
	if read.err == nil {
		read.body, read.err = io.ReadAll(read.resp.Body)
		read.err = errors.Join(read.err, read.resp.Body.Close())
	}
	read.gaveUp = read.err != nil && r.Context().Err() != nil
	return read.answer(r)
}

// begin makes the next read the one that is sent.
func (c *coalescer) begin(key readKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads[key] = turns{sent: c.reads[key].next}
}

// end lets those go on that share the read.
func (c *coalescer) end(key readKey, read *sharedRead) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.reads[key]
	if t.next == read {
		t.next = nil
	}
	if t.sent == read {
		t.sent = nil
	}
	if c.reads[key] = t; t == (turns{}) {
		delete(c.reads, key)
	}
	close(read.done)
}

// answer returns a copy of the answer.
func (s *sharedRead) answer(r *http.Request) (*http.Response, error) {
	if s.err != nil {
		return nil, s.err
	}
	resp := *s.resp
	resp.Header, resp.Request = s.resp.Header.Clone(), r
	resp.Body = io.NopCloser(bytes.NewReader(s.body))
	return &resp, nil
}

func waitFor(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
