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
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/embedded"
	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

//go:embed lifecycle.yaml
var lifecycle []byte

// steps is how many steps one instance of the lifecycle has, lastState where it
// takes the last of them.
const (
	steps     = 8
	lastState = "s8"
)

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

// Validate refuses what cannot be measured.
func (c Command) Validate() error {
	if c.Instances < 1 || c.InFlight < 1 {
		return fmt.Errorf("--instances %d --in-flight %d: want at least 1 of each", c.Instances, c.InFlight)
	}
	return nil
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
			js, err := jetstream.New(h.NATS)
			if err != nil {
				return err
			}
			load := &noop{ends: make(chan struct{}, c.Instances)}
			h.Add("agent", agent.New(agent.Config{
				Role: "noop", Name: "load", JetStream: js, Client: client.New(h.NATS, "load"), Handler: load, Workers: c.InFlight, Log: h.Log,
			}).Run)
			h.Add("bench", func(ctx context.Context) (err error) {
				report, err = c.measure(ctx, client.New(h.NATS, "bench"), load)
				return err
			})
			return nil
		},
	})
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("stopped before the end: %w", context.Cause(ctx))
	}
	if env.JSON {
		return env.Print(report)
	}
	env.Printf("%d instances of %d steps, %d in flight, sync %s: %.0f steps/s (%.2f s)\n", report.Instances, steps, report.InFlight, report.Sync, report.StepsPerS, report.Seconds)
	env.Printf("hand-off, one instance alone: p50 %.2f ms, p99 %.2f ms\n", report.StartP50MS, report.StartP99MS)
	return nil
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
