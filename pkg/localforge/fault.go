package localforge

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"time"
)

// Fault is how a request fails.
type Fault struct {
	// Status is the status of the answer; 0 closes the connection without one.
	Status int
	// After lets the request have its effect first.
	After bool
	// Delay is how long the answer, or the end of the connection, is waited for.
	Delay time.Duration
	// Half lets the request have its effect, and ends the connection within the answer's
	// body.
	Half bool
}

// withFaults serves requests by h, but for those that fault names a fault for.
func withFaults(fault func(*http.Request) *Fault, h http.Handler) http.Handler {
	if fault == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := fault(r)
		if f == nil {
			h.ServeHTTP(w, r)
			return
		}
		if f.Half {
			half(w, r, h)
		}
		if f.After {
			h.ServeHTTP(&lostAnswer{header: http.Header{}}, r)
		}
		if f.Delay > 0 {
			select {
			case <-r.Context().Done():
			case <-time.After(f.Delay):
			}
		}
		if f.Status == 0 {
			panic(http.ErrAbortHandler)
		}
		http.Error(w, "fault injected", f.Status)
	})
}

// half sends the first half of the answer and ends the connection.
func half(w http.ResponseWriter, r *http.Request, h http.Handler) {
	whole := httptest.NewRecorder()
	h.ServeHTTP(whole, r)
	maps.Copy(w.Header(), whole.Header())
	w.WriteHeader(whole.Code)
	body := whole.Body.Bytes()
	_, _ = w.Write(body[:len(body)/2])
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	panic(http.ErrAbortHandler)
}

// lostAnswer is an answer that never arrives.
type lostAnswer struct{ header http.Header }

func (l *lostAnswer) Header() http.Header         { return l.header }
func (l *lostAnswer) Write(p []byte) (int, error) { return len(p), nil }
func (l *lostAnswer) WriteHeader(int)             {}
