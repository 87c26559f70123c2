package forgeside_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/access/accesstest"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

var (
	orchestrator = access.Party{Kind: access.Orchestrator}
	gateway      = access.Party{Kind: access.Gateway}
	pm           = access.Party{Kind: access.Agent, Name: "pm"}
	shepherd     = access.Party{Kind: access.Agent, Name: "shepherd"}
	developer    = access.Party{Kind: access.Agent, Name: "developer"}
)

// host is a forge that answers all requests, or refuses them by a secondary limit.
type host struct {
	*httptest.Server
	written atomic.Int64
	limited atomic.Bool
}

func newHost(t *testing.T) *host {
	h := &host{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.limited.Load() {
			w.Header().Set("Retry-After", "300")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"message":"You have exceeded a secondary rate limit"}`)
			return
		}
		if r.Method != http.MethodGet {
			h.written.Add(1)
		}
		_, _ = io.WriteString(w, `{"number":7,"login":"ada"}`)
	}))
	t.Cleanup(h.Close)
	return h
}

// process returns the client of a service that runs by itself. Its writes are a minute apart,
// so that each one too many is put off, and none waits.
func (h *host) process(t *testing.T, nc *nats.Conn, token string, log io.Writer) *github.Client {
	t.Helper()
	flags := github.Flags{URL: h.URL, Token: token, Pace: time.Minute}
	flags, err := forgeside.Share(&service.Host{NATS: nc, Log: slog.New(slog.NewTextHandler(log, nil))}, flags)
	if err != nil {
		t.Fatal(err)
	}
	c, err := flags.Client()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := flags.Client(); err != nil || again != c {
		t.Errorf("the flags open another client: %v", err)
	}
	if err := nc.Flush(); err != nil { // the subscription is known
		t.Fatal(err)
	}
	return c
}

// putOff returns for how long a write or read is put off, to the minute; 0: it was done.
func putOff(t *testing.T, err error) time.Duration {
	t.Helper()
	limit := new(forge.RateLimit)
	if err != nil && !errors.As(err, &limit) {
		t.Error(err)
	}
	if err == nil {
		return 0
	}
	return time.Until(limit.Until).Round(time.Minute)
}

func write(t *testing.T, c *github.Client) time.Duration {
	t.Helper()
	_, err := c.Comment(t.Context(), "acme/widgets", 7, "x")
	return putOff(t, err)
}

func read(t *testing.T, c *github.Client) time.Duration {
	t.Helper()
	_, err := c.Issue(t.Context(), "acme/widgets", 7)
	return putOff(t, err)
}

// lines is a log that several write to.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestProcessesOfADeploymentShareOneAccountOfTheForgesLimits(t *testing.T) {
	s := accesstest.Start(t, orchestrator, gateway, pm, shepherd)
	stop := orchestratortest.StartOn(t, service.NATS{URL: s.URL, NKey: s.Key(t, orchestrator)}, 1, orchestratortest.Settings{},
		slog.New(slog.DiscardHandler))
	h, log := newHost(t), &lines{}
	first, second := h.process(t, s.As(t, gateway), "x", log), h.process(t, s.As(t, pm), "x", log)
	third, other := h.process(t, s.As(t, shepherd), "x", log), h.process(t, s.As(t, shepherd), "y", log)
	if got := write(t, first); got != 0 {
		t.Fatalf("the first write is put off for %v", got)
	}
	for _, c := range []*github.Client{second, third, first} {
		if got := write(t, c); got != time.Minute {
			t.Errorf("the next one is put off for %v", got)
		}
	}
	if got := write(t, other); got != 0 {
		t.Errorf("that of another token is put off for %v", got)
	}
	for _, c := range []*github.Client{first, second} {
		if got := read(t, c); got != 0 {
			t.Errorf("a read is put off for %v", got)
		}
	}
	h.limited.Store(true)
	if got := read(t, first); got != 5*time.Minute {
		t.Fatalf("the refused one is put off for %v", got)
	}
	h.limited.Store(false)
	if got := write(t, third); got != 5*time.Minute {
		t.Errorf("the write of another process is put off for %v", got)
	}
	heard, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got := read(t, second)
	for got == 0 && heard.Err() == nil {
		got = read(t, second)
	}
	if got != 5*time.Minute {
		t.Errorf("the read of another process is put off for %v", got)
	}
	if got := read(t, other); got != 0 {
		t.Errorf("that of another token is put off for %v", got)
	}
	if n := h.written.Load(); n != 2 {
		t.Errorf("%d writes came to the forge", n)
	}
	if log.String() != "" {
		t.Errorf("logged: %s", log)
	}
	stop()
	if got := read(t, other); got != 0 {
		t.Errorf("a read without an orchestrator is put off for %v", got)
	}
	for range 3 {
		if got := write(t, other); got != time.Minute {
			t.Errorf("without an orchestrator a write is put off for %v", got)
		}
	}
}

func TestWithoutAnAnswerEachProcessKeepsToItsOwnAccountAndLogsThatOnce(t *testing.T) {
	h := newHost(t)
	t.Run("no orchestrator", func(t *testing.T) {
		s := natstest.Start(t, natstest.Options{})
		alone(t, h, func() *nats.Conn { return s.Connect(t) }, "no responders")
	})
	t.Run("no connection", func(t *testing.T) {
		s, lost := natstest.Start(t, natstest.Options{}), make(chan error, 2)
		connect := func() *nats.Conn {
			return s.Connect(t, nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { lost <- err }))
		}
		alone(t, h, connect, "disconnected", func() { s.Stop(); <-lost; <-lost })
	})
	t.Run("an orchestrator that does not know the question", func(t *testing.T) {
		s := natstest.Start(t, natstest.Options{})
		c := s.Connect(t)
		_, err := c.Subscribe("sb.api.>", func(m *nats.Msg) { _ = m.Respond([]byte("\xff")) })
		if err == nil {
			err = c.Flush() // the server has it before another connection asks
		}
		if err != nil {
			t.Fatal(err)
		}
		alone(t, h, func() *nats.Conn { return s.Connect(t) }, "proto")
	})
	t.Run("a party that does not use the forge", func(t *testing.T) {
		s := accesstest.Start(t, orchestrator, developer)
		orchestratortest.StartOn(t, service.NATS{URL: s.URL, NKey: s.Key(t, orchestrator)}, 1, orchestratortest.Settings{}, slog.New(slog.DiscardHandler))
		alone(t, h, func() *nats.Conn { return s.As(t, developer) }, "no responders")
	})
	t.Run("a person", func(t *testing.T) {
		vera := access.Party{Kind: access.View, Name: "vera"}
		s := accesstest.Start(t, orchestrator, vera)
		orchestratortest.StartOn(t, service.NATS{URL: s.URL, NKey: s.Key(t, orchestrator)}, 1, orchestratortest.Settings{}, slog.New(slog.DiscardHandler))
		alone(t, h, func() *nats.Conn { return s.As(t, vera) }, "view-vera may not allowance")
	})
}

// alone has two processes write that share nothing. then is done when they are connected.
func alone(t *testing.T, h *host, connect func() *nats.Conn, why string, then ...func()) {
	t.Helper()
	var logs [2]lines
	var clients [2]*github.Client
	for i := range clients {
		clients[i] = h.process(t, connect(), "x", &logs[i])
	}
	for _, f := range then {
		f()
	}
	for i, c := range clients {
		for n, want := range []time.Duration{0, time.Minute, time.Minute} {
			if got := write(t, c); got != want {
				t.Errorf("write %d of process %d is put off for %v, want %v", n, i, got, want)
			}
		}
		if log := logs[i].String(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "an account of its own") || !strings.Contains(log, why) {
			t.Errorf("logged: %q, want one line with %s", log, why)
		}
	}
}

func TestAForgeOnThisMachineIsSharedWithNobody(t *testing.T) {
	s := natstest.Start(t, natstest.Options{})
	nc := s.Connect(t)
	asked, err := s.Connect(t).SubscribeSync("sb.>")
	if err != nil {
		t.Fatal(err)
	}
	flags, err := forgeside.Share(&service.Host{NATS: nc, Log: slog.New(slog.DiscardHandler)}, github.Flags{URL: newHost(t).URL, Token: "x"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := flags.Client()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got := write(t, c); got != 0 {
			t.Errorf("put off for %v", got)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := nc.FlushWithContext(ctx); err != nil {
		t.Fatal(err)
	}
	if n, _, err := asked.Pending(); n != 0 || err != nil {
		t.Errorf("%d messages, %v", n, err)
	}
	if n := nc.NumSubscriptions(); n != 0 {
		t.Errorf("%d subscriptions", n)
	}
}
