package app

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/desk"
	"github.com/signalbox/signalbox/pkg/service"
)

// App is the shepherd's flags.
type App struct {
	service.Flags
	Settings
}

// Settings is what the shepherd is told beside the common flags.
type Settings struct {
	desk.Settings
	Workers int `name:"workers" default:"1" help:"Pieces of work at a time."`
}

// Setup implements service.Program.
func (a *App) Setup(ctx context.Context, h *service.Host) error { return a.Settings.Setup(ctx, h) }

// Setup adds the shepherd to a host.
func (s Settings) Setup(ctx context.Context, h *service.Host) error {
	d, err := s.Open(ctx, h, "shepherd")
	if err != nil {
		return err
	}
	a := s.Agent(h, d, "shepherd", &shepherd{forge: d.Forge, workspace: d.Workspace, token: d.Token, now: time.Now})
	a.Workers = s.Workers
	h.Add("shepherd", a.Run)
	return nil
}
