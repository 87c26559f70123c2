package app

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	maxStreams  = 256
	streamPause = 500 * time.Millisecond // between two events of one stream
	streamPing  = 15 * time.Second
	streamWrite = 10 * time.Second // for one event to be taken
)

// hub wakes the streams of pages. It is safe for concurrent use.
type hub struct {
	mu  sync.Mutex
	all map[*stream]bool
}

// stream is one open page. It holds a mark that it changed and no queue, so that a slow reader
// skips states and misses none.
type stream struct {
	instance string // the page is about it alone; empty: about all
	dirty    chan struct{}
}

func newHub() *hub { return &hub{all: map[*stream]bool{}} }

// open adds a stream; nil if there are too many.
func (h *hub) open(instance string) *stream {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.all) >= maxStreams {
		return nil
	}
	s := &stream{instance, make(chan struct{}, 1)}
	h.all[s] = true
	return s
}

func (h *hub) close(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, s)
}

// notify marks the pages that show an instance; "" marks all.
func (h *hub) notify(instance string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.all {
		if instance == "" || s.instance == "" || s.instance == instance {
			s.mark()
		}
	}
}

func (s *stream) mark() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// events streams to a page that it has changed. The page reads itself again. The query has the
// instance that the page is about, i, and the sequence that it shows, seq. That page also gets what the agent prints that works
// on the instance, as events of their own.
func (c *Console) events(w http.ResponseWriter, r *http.Request, s *session) {
	id := r.URL.Query().Get("i")
	shown, _ := strconv.ParseUint(r.URL.Query().Get("seq"), 10, 64)
	at := c.hub.open(id)
	if at == nil {
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer c.hub.close(at)
	if c.cache.newest(id) > shown {
		at.mark()
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	control := http.NewResponseController(w)
	write := func(text string) bool {
		if control.SetWriteDeadline(time.Now().Add(streamWrite)) != nil {
			return false
		}
		_, err := fmt.Fprint(w, text)
		return err == nil && control.Flush() == nil
	}
	if !write(": open\n\n") {
		return
	}
	ping := time.NewTicker(streamPing)
	defer ping.Stop()
	var look <-chan time.Time
	var seen *liveOutput
	if id != "" {
		every := time.NewTicker(liveEvery)
		defer every.Stop()
		look = every.C
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case <-s.ended:
			return
		case <-ping.C:
			if !c.sessions.lives(s) || !write(": ping\n\n") {
				return
			}
		case <-look:
			now := c.output(r.Context(), id)
			if text := now.event(seen); text != "" && !write(text) {
				return
			}
			seen = now
		case <-at.dirty:
			if n := c.cache.newest(id); !write(fmt.Sprintf("id: %d\ndata: %d\n\n", n, n)) {
				return
			}
			select {
			case <-r.Context().Done():
				return
			case <-time.After(streamPause):
			}
		}
	}
}
