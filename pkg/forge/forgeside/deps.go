// Package forgeside is what the services share that hold a forge's credentials: their
// settings, a client of the forge, copies of repositories, and how they treat the
// forge's errors.
package forgeside

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/access"
	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/outbound"
	"github.com/signalbox/signalbox/pkg/secret"
	"github.com/signalbox/signalbox/pkg/service"
)

// Settings are the flags of such a service beside the common ones.
type Settings struct {
	Forge   github.Flags `embed:"" prefix:"forge-"`
	Repo    []string     `name:"repo" placeholder:"OWNER/NAME" required:"" help:"Repository to work on; * stands for any part of a name, as in acme/*. May be repeated. Work on all others is refused."`
	Protect []string     `name:"protect" placeholder:"PATTERN" help:"Paths that no push may change, as git's globs, beside those that a forge runs or reads as rules. May be repeated."`
	WorkDir string       `name:"work-dir" type:"path" default:"~/.cache/signalbox/work" help:"Where copies of repositories are kept."`

	Observer agent.Observer `kong:"-"`
}

// Deps is what the handler of one role works with.
type Deps struct {
	Gate
	Forge     *Forge
	JetStream jetstream.JetStream

	secrets *secret.Scanner
}

// Add opens the dependencies of the role, and adds an agent with the handler to the
// host. The caller may change the agent before the host runs.
func (s Settings) Add(ctx context.Context, h *service.Host, name string, handler func(Deps) agent.Handler) (*agent.Agent, error) {
	d, err := s.open(ctx, h, name)
	if err != nil {
		return nil, err
	}
	a := role.Agent(h, d.JetStream, name, handler(d), d.secrets, s.Observer)
	h.Add(name, a.Run)
	return a, nil
}

func (s Settings) open(ctx context.Context, h *service.Host, name string) (d Deps, err error) {
	d.Gate = Gate{Repos: s.Repo, Log: h.Log.With("role", name)}
	if err := d.Repos.Validate(); err != nil {
		return d, service.Usagef("%w", err)
	}
	adapter, err := s.Forge.Client()
	if err != nil {
		return d, err
	}
	token, err := s.Forge.Secret()
	if err != nil {
		return d, err
	}
	d.Token = s.Forge.Secret
	if d.secrets, err = role.Secrets(h, token); err != nil {
		return d, err
	}
	checker := outbound.New(outbound.DefaultRules(), d.secrets)
	d.Refused = NewRefused(h.Metrics, name)
	d.Forge = NewForge(adapter, checker, d.Repos, func(kind string, err error) { d.Refuse(kind, err) })
	if d.JetStream, err = access.JetStreamAs(ctx, h.NATS, access.Party{Kind: access.Agent, Name: name}); err != nil {
		return d, err
	}
	d.Workspace, err = workspace.New(workspace.Config{
		Dir: filepath.Join(s.WorkDir, name), Objects: role.Objects(h), Secrets: d.secrets, Protected: s.Protect,
	})
	if err != nil {
		return d, fmt.Errorf("work directory: %w", err)
	}
	return d, nil
}
