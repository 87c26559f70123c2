package app

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/service"
)

// App is the PM's flags.
type App struct {
	service.Flags
	Settings
}

// Settings are the PM's flags beside the common ones.
type Settings struct{ forgeside.Settings }

// Setup implements service.Program.
func (a *App) Setup(ctx context.Context, h *service.Host) error { return a.Settings.Setup(ctx, h) }

// Setup adds the PM to a host.
func (s Settings) Setup(ctx context.Context, h *service.Host) error {
	_, err := s.Add(ctx, h, "pm", func(d forgeside.Deps) agent.Handler {
		pm := &handler{reader: d.Forge, writer: d.Forge, gate: d.Gate, log: h.Log, now: time.Now}
		h.Add("endings", func(ctx context.Context) error { return pm.notifyEnded(ctx, h, d.JetStream) })
		return pm
	})
	return err
}
