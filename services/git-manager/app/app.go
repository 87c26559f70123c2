package app

import (
	"context"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/service"
)

// App is the git-manager's flags.
type App struct {
	service.Flags
	Settings
}

// Settings are the git-manager's flags beside the common ones.
type Settings struct{ forgeside.Settings }

// Setup implements service.Program.
func (a *App) Setup(ctx context.Context, h *service.Host) error { return a.Settings.Setup(ctx, h) }

// Setup adds the git-manager to a host.
func (s Settings) Setup(ctx context.Context, h *service.Host) error {
	_, err := s.Add(ctx, h, "git-manager", func(d forgeside.Deps) agent.Handler { return &manager{d.Forge, d.Gate} })
	return err
}
