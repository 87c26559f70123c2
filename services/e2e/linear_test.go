package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/logcheck"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

const defaultLinearSends = 1000 // without SIGNALBOX_LINEAR

// TestTheAPIIsLinearizable sends commands and queries of many clients to
// orchestrators that are killed, paused and stopped, as is their server. The
// replies must be those of one instance that carries out one command after the
// other, each between its request and its reply.
func TestTheAPIIsLinearizable(t *testing.T) {
	t.Parallel()
	const clients, replicas = 12, 3
	n, seed := intFromEnv(t, "SIGNALBOX_LINEAR", defaultLinearSends), uint64(intFromEnv(t, "SIGNALBOX_SEED", int(time.Now().UnixNano()%1e6)))
	t.Logf("SIGNALBOX_LINEAR=%d SIGNALBOX_SEED=%d", n, seed)
	binary(t, "orchestrator")
	began := time.Now()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "relay.yaml"), []byte(relayLifecycle), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newProcessGroup(t, "")
	server, running := startNATS(t, c, t.TempDir())
	v := &supervisor{stopped: make(chan struct{})}
	defer v.stop()
	v.watch(&supervised{name: natsName, process: running, start: func() *process { return server.start(t) }}, seed)
	for i := range replicas {
		name := fmt.Sprint("orchestrator-", i+1)
		start := func() *process {
			return c.start(t, name, binary(t, "orchestrator"), "--nats", server.url(), "--http", "127.0.0.1:0", "--grace", "5s", "--no-stand-by",
				"--workflow-dir", dir)
		}
		now := start()
		now.expect(t, `"msg":"running"`)
		v.watch(&supervised{name: name, process: now, start: start}, seed+uint64(i)+1)
	}

	r := &linearLoad{perClient: n / clients, slots: 4, seed: seed}
	for range clients { // reconnect quickly
		nc, err := nats.Connect(server.url(), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		r.clients = append(r.clients, nc)
	}
	ctx, stop := context.WithCancel(t.Context())
	injected := make(chan map[string]int, 1)
	go func() { injected <- v.injectFaults(ctx, r, n) }()
	r.run(ctx)
	stop()
	faults := <-injected
	v.awaitRunning(t)
	for _, s := range v.processes[1:] { // no command is carried out after this
		s.current().terminate(t)
	}

	_, js := server.connect(t)
	log, report := commandSequences(t, js, relayLifecycle)
	all, errs := operations(r.sends, log)
	errs = checkHistory(all, errs, maxWait)
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	open, instances := 0, map[string]bool{}
	for _, s := range r.sends {
		instances[s.Instance] = true
		if !s.answered {
			open++
		}
	}
	t.Logf("%d clients, %d replicas: %d sends, %d of them without an answer, are %d operations on %d instances, %d commits; %v; %s",
		clients, replicas, len(r.sends), open, len(all), len(instances), report.Commits, faults, since(began))
}

// injectFaults injects a fault every so many replies until ctx ends, and returns
// the number of each.
func (v *supervisor) injectFaults(ctx context.Context, r *linearLoad, n int) map[string]int {
	dice, did := rand.New(rand.NewPCG(r.seed, 99)), map[string]int{}
	every := int64(max(n/60, 100))
	for {
		if !awaitCount(ctx, &r.answers, every/2+dice.Int64N(every)) {
			return did
		}
		s := v.processes[dice.IntN(len(v.processes))]
		p := s.current()
		what := []string{"killed", "killed", "paused", "stopped"}[dice.IntN(4)]
		did[s.name+" "+what]++
		switch what {
		case "killed":
			s.kill()
		case "stopped":
			p.signal(syscall.SIGTERM)
		case "paused":
			p.signal(syscall.SIGSTOP)
			awaitCount(ctx, &r.attempts, every/4)
			p.signal(syscall.SIGCONT)
		}
	}
}

// awaitRunning returns when every orchestrator runs, and stops the supervisor.
func (v *supervisor) awaitRunning(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	for _, s := range v.processes[1:] {
		for { // one may lose its server while it starts: it ends and is restarted
			_, err := s.current().output.waitFor(ctx, `"msg":"running"`)
			if err == nil && !s.current().ended() {
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("%s does not run: %v", s.name, err)
			}
		}
	}
	v.stop()
}

// awaitCount waits until count has grown by far; false if ctx ended before.
func awaitCount(ctx context.Context, count *atomic.Int64, far int64) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for until := count.Load() + far; count.Load() < until; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// commandSequences checks the log of one lifecycle and returns the sequence of each
// command, by id.
func commandSequences(t *testing.T, js jetstream.JetStream, lifecycle string) (map[string]uint64, logcheck.Report) {
	t.Helper()
	def, err := workflow.Load("lifecycle", []byte(lifecycle))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	log, err := store.Open(ctx, js, store.Config{Watermark: filepath.Join(t.TempDir(), "watermark")})
	if err != nil {
		t.Fatal(err)
	}
	report, err := logcheck.Check(ctx, log, workflow.NewCatalog(def).Hashed)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Violations {
		t.Error(v)
	}
	all := map[string]uint64{}
	head, err := log.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	whole, done := context.WithCancel(ctx)
	defer done()
	err = log.Read(whole, 1, func(c eventstore.Commit) error {
		all[c.ID] = c.Seq
		if c.Seq == head {
			done()
		}
		return nil
	}, nil)
	if whole.Err() == nil {
		t.Fatal(err)
	}
	return all, report
}
