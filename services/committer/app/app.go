package app

import (
	"context"

	"github.com/signalbox/signalbox/pkg/forge/desk"
	"github.com/signalbox/signalbox/pkg/service"
)

// App is the committer's flags.
type App struct {
	service.Flags
	Settings
}

// Settings is what the committer is told beside the common flags.
type Settings struct{ desk.Settings }

// Setup implements service.Program.
func (a *App) Setup(ctx context.Context, h *service.Host) error { return a.Settings.Setup(ctx, h) }

// Setup adds the committer to a host.
func (s Settings) Setup(ctx context.Context, h *service.Host) error {
	d, err := s.Open(ctx, h, "committer")
	if err != nil {
		return err
	}
	h.Add("committer", s.Agent(h, d, "committer", &committer{d.Forge, d.Workspace, d.Token}).Run)
	return nil
}
