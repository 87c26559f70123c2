package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/signalbox/signalbox/pkg/document/prd"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/up"
)

// upCommand is `signalbox up`, with a plan of stories that is kept in step.
type upCommand struct {
	up.Command
	PRD string `name:"prd" type:"existingfile" placeholder:"FILE" help:"Plan of stories, such as prd.json, for the one --repo: new stories are opened, and how far they have come is written back, for as long as this runs."`
}

// Run runs the system until ctx ends.
func (c upCommand) Run(ctx context.Context, env *term.Env) error {
	if c.PRD != "" {
		repos, err := c.Repositories()
		if err != nil {
			return err
		}
		if len(repos) != 1 {
			return service.Usagef("--prd: a plan is about one repository, and --repo names %d", len(repos))
		}
		plan := &followedPlan{prdImport: prdImport{planFlags: planFlags{File: c.PRD, Repo: repos[0]}, Workflow: "story"}, every: c.Interval(),
			opened: map[string]bool{}, at: map[string]uint64{}, progress: map[string]prd.Progress{}}
		if _, err := plan.read(); err != nil {
			return err
		}
		c.Beside = func(ctx context.Context, s *allinone.System) error { return plan.follow(ctx, env, s) }
	}
	return c.Command.Run(ctx, env)
}

// followedPlan is a plan whose file is kept in step with its stories.
type followedPlan struct {
	prdImport
	every    time.Duration
	opened   map[string]bool   // stories by id
	at       map[string]uint64 // the newest commit of an instance whose progress is known
	progress map[string]prd.Progress
	unread   int // rounds in a row in which the gateway did not tell the configuration
}

// patience is for how many rounds a gateway may not yet watch the repository.
const patience = 10

// follow opens the stories of the file, and writes their progress to it, until ctx ends.
// It tells of what fails, and goes on.
func (p *followedPlan) follow(ctx context.Context, env *term.Env, s *allinone.System) error {
	sys := system{Client: client.New(s.NATS, env.User), nats: s.NATS}
	said := ""
	for {
		err := p.step(ctx, sys)
		if p.unread++; !errors.Is(err, forgeside.ErrUnread) {
			p.unread = 0
		}
		if err != nil && ctx.Err() == nil && err.Error() != said && (p.unread == 0 || p.unread > patience) {
			said = err.Error()
			fmt.Fprintf(env.Stderr, "%s is not kept in step: %s\n", p.File, term.Line(said))
		} else if err == nil {
			said = ""
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(p.every):
		}
	}
}

// step reads the file, opens what is new in it, and writes what has changed since.
func (p *followedPlan) step(ctx context.Context, sys system) error {
	plan, err := p.read()
	if err != nil {
		return err
	}
	stories := map[string]string{} // ids by instance
	var config *instance.Configuration
	read := false // config was, in this round
	for _, s := range plan.Stories {
		name := p.name(s)
		stories[name] = s.ID
		if p.opened[s.ID] || s.Status.Ended() {
			continue
		}
		if err := fits(s); err != nil {
			return fmt.Errorf("line %d: story %s: %w", s.Line, s.ID, err)
		}
		if !read {
			if config, err = sys.configuration(ctx, p.Repo); err != nil {
				return err
			}
			read = true
		}
		if _, _, err := p.open(ctx, sys, s, importedStory{Instance: name}, config); err != nil {
			return fmt.Errorf("line %d: story %s: %w", s.Line, s.ID, err)
		}
		p.opened[s.ID] = true
	}
	all, err := sys.List(ctx, &pb.ListRequest{Workflow: p.Workflow, All: true})
	if err != nil {
		return err
	}
	for _, line := range all {
		id, ours := stories[line.GetInstance()]
		if !ours || p.at[line.GetInstance()] == line.GetSeq() {
			continue
		}
		in, err := sys.Get(ctx, line.GetInstance())
		if err != nil {
			return err
		}
		if now, ok := progressOf(in); ok {
			p.progress[id], p.at[line.GetInstance()] = now, in.GetSeq()
		}
	}
	if now, err := os.ReadFile(p.File); err != nil || !bytes.Equal(now, plan.Update(nil)) {
		return err // it has just been written: the next round reads that
	}
	return prdExport{planFlags: p.planFlags}.write(plan.Update(p.progress))
}
