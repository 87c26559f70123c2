package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/signalbox/signalbox/pkg/service/httpserver"
)

// monitor is the HTTP server of a service.
type monitor struct {
	server   *http.Server
	listener net.Listener
}

// newMonitor listens on --http. It serves /healthz while the process lives. Only
// /metrics needs the token: those that probe health have none.
func newMonitor(f Flags, metrics *prometheus.Registry, health *Health, refused *httpserver.Refusals) (*monitor, error) {
	if err := CheckAddress("--http", f.HTTP); err != nil {
		return nil, err
	}
	security, err := f.httpSecurity()
	if err != nil {
		return nil, err
	}
	l, err := httpserver.Listen(f.HTTP, security)
	switch {
	case errors.Is(err, httpserver.ErrExposed):
		return nil, Usagef("--http %s: %w: give it --http-cert, --http-key and --http-token-file, or a loopback address; "+
			"--http-plain takes the responsibility", f.HTTP, err)
	case errors.Is(err, httpserver.ErrSecurity):
		return nil, Usagef("--http-cert, --http-key: %w", err)
	case err != nil:
		return nil, fmt.Errorf("--http %s: %w", f.HTTP, err)
	}
	var names []string
	if !httpserver.Local(l) {
		names = []string{httpserver.AnyName} // how others know this machine is theirs to choose
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", httpserver.Bearer(promhttp.HandlerFor(metrics, promhttp.HandlerOpts{Registry: metrics}), security.Token, refused))
	mux.Handle("GET /readyz", health)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, ReadBuild())
	})
	return &monitor{listener: l, server: httpserver.New(mux, refused, names...)}, nil
}

// httpSecurity returns what the flags say of TLS and the token of --http.
func (f Flags) httpSecurity() (httpserver.Security, error) {
	s := httpserver.Security{Cert: f.HTTPCert, Key: f.HTTPKey, Plain: f.HTTPPlain}
	if f.HTTPTokenFile == "" {
		return s, nil
	}
	token, err := os.ReadFile(f.HTTPTokenFile)
	if err != nil {
		return s, err
	}
	if s.Token = strings.TrimSpace(string(token)); s.Token == "" {
		return s, Usagef("--http-token-file %s is empty", f.HTTPTokenFile)
	}
	return s, nil
}

// url returns the address of the server.
func (m *monitor) url(f Flags) string { return f.httpScheme() + "://" + m.listener.Addr().String() }

func (f Flags) httpScheme() string {
	if f.HTTPCert != "" {
		return "https"
	}
	return "http"
}

func (m *monitor) serve() error {
	if err := m.server.Serve(m.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("metrics and health: %w", err)
	}
	return nil
}

// stop waits up to a second for responses under way.
func (m *monitor) stop(error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if m.server.Shutdown(ctx) != nil {
		_ = m.server.Close()
	}
}
