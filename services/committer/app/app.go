package app

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
)

// App is the committer's flags.
type App struct {
	service.Flags
	Settings
}

// Settings is what the committer is told beside the common flags.
type Settings struct {
	Forge   github.Flags `embed:"" prefix:"forge-"`
	WorkDir string       `name:"work-dir" type:"path" default:"~/.cache/signalbox/work" help:"Where copies of repositories are kept."`

	Observer agent.Observer `kong:"-"`
}

// Setup implements service.Program.
func (a *App) Setup(ctx context.Context, h *service.Host) error { return a.Settings.Setup(ctx, h) }

// Setup adds the committer to a host.
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
	cache, err := workspace.New(workspace.Config{Dir: filepath.Join(s.WorkDir, "committer"), Objects: objects})
	if err != nil {
		return fmt.Errorf("work directory: %w", err)
	}
	h.Add("committer", role.Agent(h, js, "committer", &committer{forge, forge, cache, token}, s.Observer).Run)
	return nil
}
