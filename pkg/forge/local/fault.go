package local

import "net/http"

// Fault is how a request goes wrong.
type Fault struct {
	// Status is what is answered instead of the truth; 0 drops the connection
	// without an answer.
	Status int
	// After lets the request have its effect first.
	After bool
}

func (f *Forge) withFaults(h http.Handler) http.Handler {
	if f.config.Fault == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fault := f.config.Fault(r)
		if fault == nil {
			h.ServeHTTP(w, r)
			return
		}
		if fault.After {
			h.ServeHTTP(&unheard{header: http.Header{}}, r)
		}
		if fault.Status == 0 {
			panic(http.ErrAbortHandler)
		}
		http.Error(w, "fault injected", fault.Status)
	})
}

// unheard is an answer that never arrives.
type unheard struct{ header http.Header }

func (u *unheard) Header() http.Header         { return u.header }
func (u *unheard) Write(p []byte) (int, error) { return len(p), nil }
func (u *unheard) WriteHeader(int)             {}
