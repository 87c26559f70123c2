package app

import (
	"context"

	"github.com/signalbox/signalbox/pkg/forge/desk"
	"github.com/signalbox/signalbox/pkg/service"
)

// App is the git-manager's flags.
type App struct {
	service.Flags
	Settings
}

// Settings is what the git-manager is told beside the common flags.
type Settings struct{ desk.Settings }

// Setup implements service.Program.
func (a *App) Setup(ctx context.Context, h *service.Host) error { return a.Settings.Setup(ctx, h) }

// Setup adds the git-manager to a host.
func (s Settings) Setup(ctx context.Context, h *service.Host) error {
	d, err := s.Open(ctx, h, "git-manager")
	if err != nil {
		return err
	}
	h.Add("git-manager", s.Agent(h, d, "git-manager", &manager{d.Forge, d.Workspace, d.Token}).Run)
	return nil
}
