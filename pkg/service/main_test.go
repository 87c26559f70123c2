package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/embedded"
	"github.com/signalbox/signalbox/pkg/testkit/porttest"
)

// program is a service for the tests.
type program struct {
	service.Flags
	Brain string   `name:"brain" default:"rules" help:"What it thinks with."`
	Repo  []string `name:"repo" help:"Repositories."`

	setup func(context.Context, *service.Host) error
}

func (p *program) Setup(ctx context.Context, h *service.Host) error { return p.setup(ctx, h) }

func start(t *testing.T) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(embedded.Config{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shutdown)
	return s
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestAServiceIsReadyThenDrainsThenStops(t *testing.T) {
	server := start(t)
	ctx, stop := context.WithCancel(t.Context())
	up, draining, drained := make(chan *service.Host, 1), make(chan struct{}), make(chan struct{})
	p := &program{setup: func(_ context.Context, h *service.Host) error {
		h.Add("work", func(ctx context.Context) error {
			up <- h
			<-ctx.Done()
			close(draining)
			<-drained
			return h.NATS.Publish("last.words", []byte("bye"))
		})
		return nil
	}}

	other, err := server.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	words, err := other.SubscribeSync("last.words")
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Flush(); err != nil {
		t.Fatal(err)
	}

	var log bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- service.Run(ctx, service.Main{
			Name: "worker", Program: p, Stderr: &log,
			Args: []string{"--nats", server.ClientURL(), "--name", "worker-7"},
		})
	}()
	h := <-up

	if status, body := get(t, h.HTTP+"/readyz"); status != http.StatusOK || !strings.Contains(body, `"ready":true`) {
		t.Errorf("running: /readyz says %d %s", status, body)
	}
	if status, body := get(t, h.HTTP+"/healthz"); status != http.StatusOK || !strings.Contains(body, `"go":"go1`) {
		t.Errorf("running: /healthz says %d %s", status, body)
	}
	_, metrics := get(t, h.HTTP+"/metrics")
	for _, want := range []string{`signalbox_service_info{`, `service="worker"`, "signalbox_nats_connected 1", "go_goroutines", "process_start_time_seconds"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("/metrics has no %s", want)
		}
	}
	h.Health.Check("log", func(context.Context) error { return errors.New("behind by 7") })
	if status, body := get(t, h.HTTP+"/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, `"log":"behind by 7"`) {
		t.Errorf("failed check: /readyz says %d %s", status, body)
	}

	stop()
	<-draining
	status, body := get(t, h.HTTP+"/readyz")
	var r service.Readiness
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatal(err)
	}
	if status != http.StatusServiceUnavailable || !strings.HasPrefix(r.Reasons["service"], "draining") {
		t.Errorf("draining: /readyz says %d %s", status, body)
	}
	close(drained)
	if c := <-code; c != 0 {
		t.Errorf("exit code %d, log:\n%s", c, log.String())
	}
	if m, err := words.NextMsgWithContext(t.Context()); err != nil || string(m.Data) != "bye" {
		t.Errorf("what was published while draining did not arrive: %v", err)
	}
	if _, err := http.Get(h.HTTP + "/healthz"); err == nil {
		t.Error("it still answers after it stopped")
	}
}

func TestAServiceIsNotReadyWhileNATSIsAway(t *testing.T) {
	dir, addr := t.TempDir(), porttest.Address(t)
	serve := func() *embedded.Server {
		s, err := embedded.Start(embedded.Config{Dir: dir, Listen: addr})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ctx, stop := context.WithCancel(t.Context())
	up := make(chan *service.Host, 1)
	p := &program{setup: func(_ context.Context, h *service.Host) error {
		h.Add("work", func(ctx context.Context) error { up <- h; <-ctx.Done(); return nil })
		return nil
	}}
	server := serve()
	code := make(chan int, 1)
	go func() {
		code <- service.Run(ctx, service.Main{Name: "worker", Program: p, Stderr: t.Output(), Args: []string{"--nats", "nats://" + addr}})
	}()
	h := <-up
	away, back := h.NATS.StatusChanged(nats.RECONNECTING), h.NATS.StatusChanged(nats.CONNECTED)

	server.Shutdown()
	<-away
	if status, body := get(t, h.HTTP+"/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, `"nats":"connection is RECONNECTING"`) {
		t.Errorf("away: /readyz says %d %s", status, body)
	}
	if code, out := healthcheck(t, h.HTTP); code != service.ExitCutOff || !strings.Contains(out, "cut off from NATS: it runs; connection is RECONNECTING") {
		t.Errorf("away: its health check ends with %d: %s", code, out)
	}
	server = serve()
	defer server.Shutdown()
	<-back
	if status, body := get(t, h.HTTP+"/readyz"); status != http.StatusOK {
		t.Errorf("back: /readyz says %d %s", status, body)
	}
	stop()
	if c := <-code; c != 0 {
		t.Errorf("exit code %d", c)
	}
}

// healthcheck returns the exit code and the text of a health check of the service at url.
func healthcheck(t *testing.T, url string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	code := service.Run(t.Context(), service.Main{
		Name: "worker", Program: &program{}, Stderr: &out, Args: []string{"--healthcheck", "--http", strings.TrimPrefix(url, "http://")},
	})
	return code, out.String()
}

func TestAServiceThatHasNotReachedNATSYetIsCutOffAndNotStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	log, stderr := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- service.Run(ctx, service.Main{Name: "worker", Program: &program{}, Stderr: stderr, Args: []string{"--nats", "nats://" + porttest.Address(t), "--log-format", "json"}})
		_ = stderr.Close()
	}()
	var line struct{ URL string }
	if err := json.NewDecoder(log).Decode(&line); err != nil { // the first line: where metrics and health are
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
	if code, out := healthcheck(t, line.URL); code != service.ExitCutOff || !strings.Contains(out, "cut off from NATS: it runs; connecting to NATS") {
		t.Errorf("its health check ends with %d: %s", code, out)
	}
	stop()
	<-code
}

func TestAServiceThatDoesNotAnswerIsNotCalledStopped(t *testing.T) {
	deaf := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer deaf.Close()
	if code, out := healthcheck(t, deaf.URL); code != service.ExitNotReady || !strings.Contains(out, "it runs, and does not answer") {
		t.Errorf("its health check ends with %d: %s", code, out)
	}
}

func TestAHealthcheckAsksTheRunningService(t *testing.T) {
	server := start(t)
	ready := errors.New("rebuilding")
	p := &program{setup: func(_ context.Context, h *service.Host) error {
		h.Health.Check("log", func(context.Context) error { return ready })
		h.Add("ask", func(ctx context.Context) error {
			ask := func() (int, string) { return healthcheck(t, h.HTTP) }
			if code, out := ask(); code != service.ExitNotReady || !strings.Contains(out, "not ready: map[log:rebuilding]") {
				t.Errorf("not ready: exit code %d: %s", code, out)
			}
			ready = nil
			if code, out := ask(); code != 0 {
				t.Errorf("ready: exit code %d: %s", code, out)
			}
			return nil
		})
		return nil
	}}
	if code := service.Run(t.Context(), service.Main{
		Name: "worker", Program: p, Stderr: t.Output(), Args: []string{"--nats", server.ClientURL()},
	}); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestSeveralServicesShareAnInProcessServer(t *testing.T) {
	server, err := embedded.Start(embedded.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Shutdown()
	said := make(chan string, 2)
	err = service.Serve(t.Context(), service.Config{
		Service: "all",
		Log:     service.Logging{}.Logger(t.Output()),
		Options: []nats.Option{nats.InProcessServer(server)},
		Setup: func(_ context.Context, h *service.Host) error {
			h.Add("one", func(ctx context.Context) error { <-ctx.Done(); said <- "one"; return ctx.Err() })
			h.Add("two", func(context.Context) error { said <- "two"; return nil })
			return nil
		},
	})
	if err != nil {
		t.Error(err)
	}
	if first, second := <-said, <-said; first != "two" || second != "one" {
		t.Errorf("%s ended before %s", first, second)
	}
}
