// Package bench measures the engine: open, deliver, claim, result, decision,
// next work, with agents that do nothing.
package bench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/embedded"
	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

//go:embed lifecycle.yaml
var lifecycle []byte

// steps is how many steps one instance of the lifecycle has.
const steps = 8

// Command is `signalbox bench`.
type Command struct {
	Instances int           `name:"instances" default:"500" help:"How many instances run to their end, 8 steps each."`
	InFlight  int           `name:"in-flight" default:"64" help:"Pieces of work under way at a time."`
	Sync      time.Duration `name:"sync" default:"0s" help:"How often the log is flushed to disk; 0 flushes every event before anyone sees it."`
	Profile   string        `name:"profile" type:"path" placeholder:"FILE" help:"Write a CPU profile of the run, for go tool pprof."`
}

// Report is what --json prints.
type Report struct {
	Instances  int     `json:"instances"`
	Steps      int     `json:"steps"`
	InFlight   int     `json:"in_flight"`
	Sync       string  `json:"sync"` // always, or the interval
	Seconds    float64 `json:"seconds"`
	StepsPerS  float64 `json:"steps_per_s"`
	StartP50MS float64 `json:"start_p50_ms"` // step ends in an agent to next step starts in one, one instance alone
	StartP99MS float64 `json:"start_p99_ms"`
}

// Run measures on an embedded server with everything in this process.
func (c Command) Run(ctx context.Context, env *term.Env) error {
	dir, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	lifecycles := filepath.Join(dir, "lifecycles")
	if err := os.Mkdir(lifecycles, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(lifecycles, "bench.yaml"), lifecycle, 0o644); err != nil {
		return err
	}
	server, err := embedded.Start(embedded.Config{Dir: filepath.Join(dir, "log"), Sync: c.Sync})
	if err != nil {
		return err
	}
	defer server.Shutdown()
	if c.Profile != "" {
		stop, err := profile(c.Profile)
		if err != nil {
			return err
		}
		defer stop()
	}
	var report Report
	err = service.Serve(ctx, service.Config{
		Service: "bench", Log: slog.New(slog.DiscardHandler), Options: []nats.Option{nats.InProcessServer(server)},
		Setup: func(ctx context.Context, h *service.Host) error {
			s := orchestrator.Settings{WorkflowDir: lifecycles, AckWait: 30 * time.Second, MaxDeliver: 50}
			if err := s.Setup(ctx, h); err != nil {
				return err
			}
			h.Add("bench", func(ctx context.Context) (err error) {
				report, err = c.measure(ctx, h)
				return err
			})
			return nil
		},
	})
	if err != nil {
		return err
	}
	if env.JSON {
		return env.Print(report)
	}
	env.Printf("%d instances of %d steps, %d in flight, sync %s: %.0f steps/s (%.2f s)\n", report.Instances, steps, report.InFlight, report.Sync, report.StepsPerS, report.Seconds)
	env.Printf("hand-off, one instance alone: p50 %.2f ms, p99 %.2f ms\n", report.StartP50MS, report.StartP99MS)
	return nil
}

func (c Command) measure(ctx context.Context, h *service.Host) (Report, error) {
	r := Report{Instances: c.Instances, Steps: c.Instances * steps, InFlight: c.InFlight, Sync: "always"}
	if c.Sync > 0 {
		r.Sync = c.Sync.String()
	}
	js, err := jetstream.New(h.NATS)
	if err != nil {
		return r, err
	}
	load := &noop{left: c.Instances, done: make(chan struct{})}
	ctx, stop := context.WithCancel(ctx)
	agents := make(chan error, 1)
	go func() { agents <- c.agent(h, js, "load", c.InFlight, load).Run(ctx) }()
	cl := client.New(h.NATS, "bench")
	start := time.Now()
	err = open(ctx, cl, "load", c.Instances, c.InFlight)
	if err == nil {
		err = wait(ctx, load.done)
	}
	r.Seconds = time.Since(start).Seconds()
	r.StepsPerS = float64(r.Steps) / r.Seconds
	if err == nil {
		r.StartP50MS, r.StartP99MS, err = alone(ctx, cl, load)
	}
	stop()
	<-agents
	return r, err
}

func (c Command) agent(h *service.Host, js jetstream.JetStream, name string, workers int, handler agent.Handler) *agent.Agent {
	return agent.New(agent.Config{Role: "noop", Name: name, JetStream: js, Client: client.New(h.NATS, name), Handler: handler, Workers: workers, Log: h.Log})
}

// open starts n instances, several at a time.
func open(ctx context.Context, c *client.Client, prefix string, n, parallel int) error {
	var wg sync.WaitGroup
	errs := make(chan error, n)
	slots := make(chan struct{}, parallel)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			_, err := c.Open(ctx, "", "bench", fmt.Sprintf("%s/%d", prefix, i), instance.Issue{Title: "bench"})
			errs <- err
		})
	}
	wg.Wait()
	for range n {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// alone measures the hand-offs of one instance after the other.
func alone(ctx context.Context, c *client.Client, load *noop) (p50, p99 float64, err error) {
	const samples = 100
	load.restart(samples)
	for i := range samples {
		if err := open(ctx, c, fmt.Sprintf("alone-%d", i), 1, 1); err != nil {
			return 0, 0, err
		}
		if err := load.waitFor(ctx, samples-i-1); err != nil {
			return 0, 0, err
		}
	}
	all := load.handoffs()
	slices.Sort(all)
	at := func(q float64) float64 { return float64(all[int(q*float64(len(all)-1))].Microseconds()) / 1000 }
	return at(0.50), at(0.99), nil
}

func wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func profile(file string) (stop func(), err error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { pprof.StopCPUProfile(); _ = f.Close() }, nil
}
