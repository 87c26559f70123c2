package process

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
)

// Orchestrator runs an orchestrator.
type Orchestrator struct{ host *host }

// OrchestratorArgs are the arguments of Orchestrator.Start.
type OrchestratorArgs struct {
	URL      string // of the server; empty: the one in this process
	Settings orchestrator.Settings
	Access   access.Directory // see ServerArgs
}

// grace is how long a service may take to end.
const grace = 10 * time.Second

// Start starts the orchestrator and waits until it is ready. It returns the URL of the
// metrics.
func (o *Orchestrator) Start(a OrchestratorArgs, metrics *string) error {
	o.host.access = a.Access
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

// quiet returns a logger for warnings and errors.
func quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
