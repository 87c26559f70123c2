package allinone

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/pipelinerole"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/service"
	committer "github.com/signalbox/signalbox/services/committer/app"
	gitmanager "github.com/signalbox/signalbox/services/git-manager/app"
	pm "github.com/signalbox/signalbox/services/pm/app"
	shepherd "github.com/signalbox/signalbox/services/shepherd/app"
)

// Definitions returns the built-in lifecycles and those in dir, which may be empty.
// An error is one of the definitions: a service.Usage error.
func Definitions(dir string) ([]*workflow.Definition, error) {
	defs, err := workflow.Builtins()
	if err == nil && dir != "" {
		var own []*workflow.Definition
		own, err = workflow.LoadDir(os.DirFS(dir))
		defs = append(defs, own...)
	}
	if err != nil {
		return nil, service.Usagef("%w", err)
	}
	return defs, nil
}

// BrainRoles returns the roles of the lifecycles that work with a brain, each once:
// all but the forge-side ones.
func BrainRoles(defs ...*workflow.Definition) []string {
	var roles []string
	for _, d := range defs {
		for _, name := range d.Roles() {
			if !slices.Contains(roles, name) && forgeSide(name) == nil {
				roles = append(roles, name)
			}
		}
	}
	return roles
}

// ThinkingRoles returns the roles that can be given a brain: BrainRoles, and the PM, which
// reads people's words by it.
func ThinkingRoles(defs ...*workflow.Definition) []string { return append(BrainRoles(defs...), "pm") }

// Roles returns the roles of the lifecycles, each once, and the PM: it reports the end of
// each instance to people.
func Roles(defs ...*workflow.Definition) []string {
	all := []string{"pm"}
	for _, d := range defs {
		all = append(all, d.Roles()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// forgeSide returns the setup of a role that uses the forge, nil for another role.
func forgeSide(name string) func(ctx context.Context, h *service.Host, c Config, work string) error {
	switch name {
	case "pm":
		return func(ctx context.Context, h *service.Host, c Config, work string) error {
			own, err := c.Agents.Of("pm")
			if err != nil && !errors.Is(err, role.ErrNoBrain) {
				return err
			}
			return pm.Settings{Settings: at(c, work), Brain: own.Brain, Env: own.Env, Wall: c.Agents.Wall, Box: c.Agents.Box,
				Models: c.Agents.Models, Prompts: c.Agents.Prompts, Presets: c.Agents.Presets, Hidden: c.hidden(), Status: c.Status}.Setup(ctx, h)
		}
	case "committer":
		return func(ctx context.Context, h *service.Host, c Config, work string) error {
			return committer.Settings{Settings: at(c, work)}.Setup(ctx, h)
		}
	case "git-manager":
		return func(ctx context.Context, h *service.Host, c Config, work string) error {
			return gitmanager.Settings{Settings: at(c, work)}.Setup(ctx, h)
		}
	case "shepherd":
		return func(ctx context.Context, h *service.Host, c Config, work string) error {
			return shepherd.Settings{Settings: at(c, work), Workers: c.Agents.Workers, Command: c.Commands.Command}.Setup(ctx, h)
		}
	}
	return nil
}

// addRoles adds an agent for each role, on the host that as returns for it. It logs the
// roles without a brain.
func (c Config) addRoles(ctx context.Context, h *service.Host, as func(role string) (*service.Host, error),
	defs []*workflow.Definition, work string) error {
	for _, name := range Roles(defs...) {
		if setup := forgeSide(name); setup != nil {
			own, err := as(name)
			if err != nil {
				return err
			}
			if err := setup(ctx, own, c, work); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	specs, err := role.ParseSpecs(c.Agents.Brain, "")
	if err == nil {
		err = specs.Check(ThinkingRoles(defs...))
	}
	if err != nil {
		return service.Usagef("%w", err)
	}
	c.Agents.Document = pipelinerole.Document{}
	var idle []string
	for _, name := range BrainRoles(defs...) {
		own, err := c.Agents.Of(name)
		if errors.Is(err, role.ErrNoBrain) {
			idle = append(idle, name)
			continue
		}
		if err != nil {
			return err
		}
		own.WorkDir, own.Observer, own.AtOnce, own.Hidden = work, c.Observer, c.Alone, c.hidden()
		host, err := as(name)
		if err != nil {
			return err
		}
		if err := own.Setup(ctx, host, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(idle) > 0 && !c.Alone {
		h.Log.Log(ctx, c.urgency(idle, defs), "nobody here works as these; give them a brain, --brain ROLE=exec:COMMAND, or serve them elsewhere",
			"roles", strings.Join(idle, ", "))
	}
	return nil
}

// urgency is that of a warning if new issues need one of the roles.
func (c Config) urgency(idle []string, defs []*workflow.Definition) slog.Level {
	if def, err := workflow.NewCatalog(defs...).Named(c.Workflow); err == nil &&
		slices.ContainsFunc(BrainRoles(def), func(role string) bool { return slices.Contains(idle, role) }) {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// at returns the settings of a forge-side role.
func at(c Config, work string) forgeside.Settings {
	return forgeside.Settings{Forge: c.Forge, Repo: c.Watch, CommitAs: c.Agents.CommitAs, WorkDir: work, Observer: c.Observer}
}
