package app

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
)

// App is the shepherd's flags.
type App struct {
	service.Flags
	Settings
}

// Settings is what the shepherd is told beside the common flags.
type Settings struct {
	Forge   github.Flags `embed:"" prefix:"forge-"`
	WorkDir string       `name:"work-dir" type:"path" default:"~/.cache/signalbox/work" help:"Where copies of repositories are kept."`
	Workers int          `name:"workers" default:"1" help:"Pieces of work at a time."`

	Observer agent.Observer `kong:"-"`
}

// Setup implements service.Program.
func (a *App) Setup(ctx context.Context, h *service.Host) error { return a.Settings.Setup(ctx, h) }

// Setup adds the shepherd to a host.
func (s Settings) Setup(ctx context.Context, h *service.Host) error {
	forge, err := s.Forge.Client()
	if err != nil {
		return err
	}
	token, err := s.Forge.Secret()
	if err != nil {
		return err
	}
	js, err := jetstream.New(h.NATS)
	if err != nil {
		return err
	}
	objects, err := role.Bucket(ctx, js)
	if err != nil {
		return err
	}
	cache, err := workspace.New(workspace.Config{Dir: filepath.Join(s.WorkDir, "shepherd"), Objects: objects})
	if err != nil {
		return fmt.Errorf("work directory: %w", err)
	}
	a := role.Agent(h, js, "shepherd", &shepherd{forge: forge, workspace: cache, token: token, now: time.Now}, s.Observer)
	a.Workers = s.Workers
	h.Add("shepherd", a.Run)
	return nil
}
