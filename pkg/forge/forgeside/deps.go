// Package forgeside is what the services share that hold a forge's credentials. These are
// their settings, a client of the forge, copies of repositories, and how they treat the
// forge's errors.
package forgeside

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/host"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
)

// Settings are the flags of such a service in addition to the common ones.
type Settings struct {
	Forge    github.Flags `embed:"" prefix:"forge-"`
	Repo     []string     `name:"repo" placeholder:"OWNER/NAME" required:"" help:"Repository to work on: OWNER/NAME, a pattern such as acme/web-*, or installed: all that the App is installed on; !OWNER/NAME leaves out. May be repeated. Work on all others is refused."`
	Protect  []string     `name:"protect" placeholder:"PATTERN" help:"Paths that no push may change, as git's globs, in addition to those that a forge runs or reads as rules. May be repeated."`
	CommitAs string       `name:"commit-as" placeholder:"WHO" help:"Author and committer of commits, as NAME <EMAIL>, in addition to Signalbox <signalbox@localhost>; by default the App's bot, if there is an App. The agents need the same."`
	WorkDir  string       `name:"work-dir" type:"path" default:"~/.cache/signalbox/work" help:"Where copies of repositories are kept."`

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
	a := host.Agent(h, d.JetStream, name, handler(d), d.secrets, s.Observer)
	h.Add(name, a.Run)
	return a, nil
}

func (s Settings) open(ctx context.Context, h *service.Host, name string) (d Deps, err error) {
	door := host.Objects(h)
	d.Gate = Gate{Repos: s.Repo, Log: h.Log.With("role", name), Attest: door.Attest}
	adapter, err := s.Forge.Client()
	if err != nil {
		return d, err
	}
	if err := d.Repos.Permitted(adapter); err != nil {
		return d, service.Usagef("%w", err)
	}
	token, err := s.Forge.Secret()
	if err != nil {
		return d, err
	}
	d.Token, d.Urgency = adapter.Token, urgencyOf(name)
	if err := adapter.Register(h.Metrics); err != nil {
		return d, err
	}
	h.Health.Warn("forge", func(context.Context) error { return adapter.Fault() })
	if d.secrets, err = host.Secrets(h, token); err != nil {
		return d, err
	}
	who, err := s.identity(ctx, adapter)
	if err != nil {
		return d, err
	}
	checker := outbound.New(outbound.DefaultRules(), d.secrets)
	d.Refused = NewRefused(h.Metrics, name)
	d.Forge = NewForge(adapter, checker, d.Repos, func(kind string, err error) { d.Refuse(kind, err) })
	if d.JetStream, err = access.JetStreamAs(ctx, h.NATS, access.Party{Kind: access.Agent, Name: name}); err != nil {
		return d, err
	}
	d.Workspace, err = workspace.New(workspace.Config{
		Dir: filepath.Join(s.WorkDir, name), Identity: who, Objects: door, Secrets: d.secrets, Protected: s.Protect,
	})
	if err != nil {
		return d, fmt.Errorf("work directory: %w", err)
	}
	return d, nil
}

// urgencyOf returns the urgency of a role's work on the forge: merges, and comments for people,
// come first.
func urgencyOf(role string) forge.Urgency {
	if role == "shepherd" || role == "pm" {
		return forge.Urgent
	}
	return forge.Ordinary
}

// identity returns the identity of commits: the given one, else that of the App's bot.
func (s Settings) identity(ctx context.Context, adapter *github.Client) (outbound.Identity, error) {
	if who, err := outbound.ParseIdentity(s.CommitAs); err != nil || s.CommitAs != "" {
		return who, err
	}
	if s.Forge.ID == 0 {
		return outbound.Identity{}, nil
	}
	return Identity(ctx, adapter)
}

// Identity returns the identity by which GitHub attributes commits to the client's bot,
// the zero one if the client is no bot's.
func Identity(ctx context.Context, adapter *github.Client) (outbound.Identity, error) {
	account, err := adapter.Account(ctx)
	if err != nil || !account.Bot {
		return outbound.Identity{}, err
	}
	return outbound.Identity{Name: account.Login, Email: adapter.NoReply(account)}, nil
}
