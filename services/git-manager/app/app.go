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

// Settings are the git-manager's flags in addition to the common ones.
type Settings struct{ forgeside.Settings }

// Main is the service, for a program that serves it.
func Main() service.Main {
	return service.Main{Name: "git-manager", About: "Brings the code of tasks, and takes their branches to the forge.", Program: &App{}}
}

// Setup implements service.Program. It refuses a wrong token or repository.
func (a *App) Setup(ctx context.Context, h *service.Host) error {
	if err := forgeside.Reach(ctx, h, &a.Forge, a.Repo); err != nil {
		return err
	}
	return a.Settings.Setup(ctx, h)
}

// Setup adds the git-manager to a host.
func (s Settings) Setup(ctx context.Context, h *service.Host) error {
	_, err := s.Add(ctx, h, "git-manager", func(d forgeside.Deps) agent.Handler { return &manager{d.Forge, d.Gate} })
	return err
}
