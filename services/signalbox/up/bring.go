package up

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge/github"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/resolve"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// bringer brings the branches of work that ends into the repositories on this machine
// that the local forge started from.
type bringer struct {
	env    *term.Env
	client *client.Client
	forge  *github.Client
	secret string
	repos  map[string]allinone.Source
}

// bring brings branches until ctx ends. It tells of what fails, and goes on.
func bring(ctx context.Context, env *term.Env, s *allinone.System, repos map[string]allinone.Source) {
	b := bringer{env: env, client: client.New(s.NATS, env.User), secret: s.Forge.Secret, repos: repos}
	var err error
	if b.forge, err = github.New(github.Config{BaseURL: s.Forge.API(), Token: s.Forge.Secret}); err == nil {
		err = b.follow(ctx)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(env.Stderr, "finished branches are not brought any more: %s\n", term.Line(err.Error()))
	}
}

// follow brings the branch of each instance that ends from now on.
func (b bringer) follow(ctx context.Context) error {
	all, err := b.client.List(ctx, &pb.ListRequest{All: true})
	if err != nil {
		return err
	}
	var newest uint64
	for _, line := range all {
		newest = max(newest, line.GetSeq())
	}
	return b.client.Watch(ctx, "", newest, func(c client.LogEntry) error {
		for _, e := range c.Events {
			if moved, ok := e.(instance.Moved); ok && moved.Kind == workflow.Final {
				if err := b.one(ctx, c.Instance); err != nil && ctx.Err() == nil {
					fmt.Fprintf(b.env.Stderr, "the branch of %s is not brought: %s\n", c.Instance, term.Line(err.Error()))
				}
			}
		}
		return nil
	})
}

// one brings the branch of an instance, if it has one and its repository is on this machine.
func (b bringer) one(ctx context.Context, name string) error {
	in, err := b.client.Get(ctx, name)
	if err != nil {
		return err
	}
	source, here := b.repos[in.GetIssue().GetRepo()]
	if !here {
		return nil
	}
	at, err := b.forge.Repository(ctx, in.GetIssue().GetRepo())
	if err != nil {
		return err
	}
	branch := resolve.Branch(in, at.DefaultBranch)
	if branch == "" {
		return nil
	}
	got, err := resolve.Bring(ctx, source.Dir, at.DefaultBranch, at.CloneURL, b.secret, branch)
	if err == nil {
		fmt.Fprintf(b.env.Stderr, "%s  branch %s is in %s\n", name, got, source.Dir)
	}
	return err
}
