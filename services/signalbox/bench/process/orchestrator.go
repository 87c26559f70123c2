package process

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/signalbox/signalbox/pkg/service"
	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
)

// Orchestrator is an orchestrator in a part.
type Orchestrator struct{ host *host }

// OrchestratorArgs says what it is told.
type OrchestratorArgs struct {
	URL      string // of the server; empty for the one in the same part
	Settings orchestrator.Settings
}

// grace is how long a service of a part may take to end.
const grace = 10 * time.Second

// Start starts it, waits until it answers, and says where its metrics are.
func (o *Orchestrator) Start(a OrchestratorArgs, metrics *string) error {
	nats, options := o.host.link(a.URL)
	ready := make(chan string, 1)
	ended := make(chan error, 1)
	o.host.run(func(ctx context.Context) error {
		err := service.Serve(ctx, service.Config{
			Service: "orchestrator", Log: quiet(), Options: options,
			Flags: service.Flags{NATS: nats, HTTP: "127.0.0.1:0", Grace: grace},
			Setup: func(ctx context.Context, h *service.Host) error {
				err := a.Settings.Setup(ctx, h)
				if err == nil {
					ready <- h.HTTP + "/metrics"
				}
				return err
			},
		})
		ended <- err
		return err
	})
	select {
	case *metrics = <-ready:
		return nil
	case err := <-ended:
		return err
	}
}

// quiet logs what a measurement should not meet.
func quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
