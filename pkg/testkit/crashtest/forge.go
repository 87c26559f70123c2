package crashtest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

// serveForge serves the forge to one instance.
func (l *Link) serveForge(forge http.Handler) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fault, ok := l.countCall(Call{Name: r.Method + " " + strings.TrimPrefix(r.URL.Path, "/api/v3"), Writes: writes(r)})
		if !ok {
			panic(http.ErrAbortHandler)
		}
		// An accepted request is carried out even if its sender crashes.
		accepted := r.WithContext(context.WithoutCancel(r.Context()))
		switch fault {
		case CrashAfter:
			forge.ServeHTTP(lostAnswer{}, accepted)
			l.crash()
			panic(http.ErrAbortHandler)
		case LoseAnswer:
			forge.ServeHTTP(lostAnswer{}, accepted)
		case None:
			forge.ServeHTTP(w, accepted)
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

// lostAnswer is an answer that never arrives.
type lostAnswer struct{}

func (lostAnswer) Header() http.Header         { return http.Header{} }
func (lostAnswer) Write(p []byte) (int, error) { return len(p), nil }
func (lostAnswer) WriteHeader(int)             {}
