package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/signalbox/signalbox/pkg/httpserver"
)

// monitor is the HTTP server of a service.
type monitor struct {
	server   *http.Server
	listener net.Listener
}

// newMonitor listens on addr. It serves /healthz while the process lives.
func newMonitor(addr string, metrics *prometheus.Registry, health *Health, log *slog.Logger) (*monitor, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--http %s: %w", addr, err)
	}
	var names []string
	if tcp, ok := l.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		names = []string{httpserver.AnyName} // how others know this machine is theirs to choose
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{Registry: metrics}))
	mux.Handle("GET /readyz", health)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, ReadBuild())
	})
	return &monitor{listener: l, server: httpserver.New(mux, log, names...)}, nil
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

// healthcheck returns nil if the service at addr, its --http, is ready.
func healthcheck(ctx context.Context, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "0" {
		return Usagef("--healthcheck needs the --http HOST:PORT of the running service, with its port; it is %q", addr)
	}
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("not running: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	var r Readiness
	if err := json.NewDecoder(resp.Body).Decode(&r); err != nil {
		return fmt.Errorf("not ready: %s", resp.Status)
	}
	return fmt.Errorf("not ready: %v", r.Reasons)
}
