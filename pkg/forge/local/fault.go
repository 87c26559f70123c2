package local

import "net/http"

// Fault is how a request fails.
type Fault struct {
	// Status is the status of the answer; 0 closes the connection without one.
	Status int
	// After lets the request have its effect first.
	After bool
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
		if f.After {
			h.ServeHTTP(&lostAnswer{header: http.Header{}}, r)
		}
		if f.Status == 0 {
			panic(http.ErrAbortHandler)
		}
		http.Error(w, "fault injected", f.Status)
	})
}

// lostAnswer is an answer that never arrives.
type lostAnswer struct{ header http.Header }

func (l *lostAnswer) Header() http.Header         { return l.header }
func (l *lostAnswer) Write(p []byte) (int, error) { return len(p), nil }
func (l *lostAnswer) WriteHeader(int)             {}
