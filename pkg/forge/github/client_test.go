package github_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
)

func TestTokenFileIsReadForEveryRequest(t *testing.T) {
	w := newEnv(t)
	file := filepath.Join(t.TempDir(), "token")
	c, err := github.New(github.Config{BaseURL: w.url, TokenFile: file})
	must(t, err)
	if _, err := c.Self(t.Context()); !errors.Is(err, forge.ErrDenied) || !strings.Contains(err.Error(), file) {
		t.Errorf("without the file: %v", err)
	}
	for token, login := range map[string]string{"ada-token\n": "ada", "max-token": "max"} {
		must(t, os.WriteFile(file, []byte(token), 0o600))
		if got, err := c.Self(t.Context()); err != nil || got != login {
			t.Errorf("self = %q, %v, want %s", got, err, login)
		}
	}
	must(t, os.WriteFile(file, []byte("\n"), 0o600))
	if _, err := c.Self(t.Context()); !errors.Is(err, forge.ErrDenied) || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("with an empty file: %v", err)
	}
}

func TestContextEndsACall(t *testing.T) {
	arrived := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	}))
	defer server.Close()
	c, err := github.New(github.Config{BaseURL: server.URL})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	if _, err := c.Self(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, forge.ErrUnavailable) {
		t.Errorf("err = %v", err)
	}
}
