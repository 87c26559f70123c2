package app

import (
	"context"

	"github.com/signalbox/signalbox/pkg/forge/desk"
	"github.com/signalbox/signalbox/pkg/service"
)

// App is the PM's flags.
type App struct {
	service.Flags
	Settings
}

// Settings is what the PM is told beside the common flags.
type Settings struct{ desk.Settings }

// Setup implements service.Program.
func (a *App) Setup(ctx context.Context, h *service.Host) error { return a.Settings.Setup(ctx, h) }

// Setup adds the PM to a host.
func (s Settings) Setup(ctx context.Context, h *service.Host) error {
	d, err := s.Open(ctx, h, "pm")
	if err != nil {
		return err
	}
	pm := &handler{reader: d.Forge, writer: d.Forge, workspace: d.Workspace, token: d.Token, log: h.Log}
	h.Add("pm", s.Agent(h, d, "pm", pm).Run)
	h.Add("endings", func(ctx context.Context) error { return pm.notifyEnded(ctx, h, d.JetStream) })
	return nil
}
