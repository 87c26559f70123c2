package crashtest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

// front serves the forge to one incarnation.
func (l *Line) front(forge http.Handler) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fault, ok := l.call(Call{Name: r.Method + " " + strings.TrimPrefix(r.URL.Path, "/api/v3"), Writes: writes(r)})
		if !ok {
			panic(http.ErrAbortHandler)
		}
		// A request that was taken is carried out, whatever becomes of who made it.
		taken := r.WithContext(context.WithoutCancel(r.Context()))
		switch fault {
		case Dies:
			forge.ServeHTTP(unheard{}, taken)
			l.die()
			panic(http.ErrAbortHandler)
		case Lost:
			forge.ServeHTTP(unheard{}, taken)
		case None:
			forge.ServeHTTP(w, taken)
			return
		}
		http.Error(w, "bad gateway", http.StatusBadGateway)
	}))
	l.Forge = s.URL
	return s
}

// writes reports whether the request may change the forge.
func writes(r *http.Request) bool {
	switch {
	case r.Method == http.MethodGet || r.Method == http.MethodHead || strings.HasSuffix(r.URL.Path, "/git-upload-pack"):
		return false
	case strings.HasSuffix(r.URL.Path, "/graphql"):
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		return err != nil || bytes.Contains(body, []byte("mutation"))
	}
	return true
}

// unheard is an answer that never arrives.
type unheard struct{}

func (unheard) Header() http.Header         { return http.Header{} }
func (unheard) Write(p []byte) (int, error) { return len(p), nil }
func (unheard) WriteHeader(int)             {}
