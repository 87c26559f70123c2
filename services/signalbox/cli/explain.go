package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/standing"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service/access"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type explainCommand struct {
	readingOne
	Rules bool   `name:"rules" env:"-" help:"Print the guards of the rules, too, and the values that they read."`
	Seq   uint64 `name:"seq" env:"-" placeholder:"N" help:"Explain this commit of the record instead: the command, the guards that were tried, and what was decided."`
}

// Run prints why an instance does not move and what would move it.
func (c explainCommand) Run(ctx context.Context, env *term.Env) error {
	return c.readOne(ctx, env, &c.ID, func(ctx context.Context, s reader) error {
		if c.Seq > 0 {
			return c.commit(ctx, env, s)
		}
		in, err := s.Get(ctx, c.ID)
		if err != nil {
			return err
		}
		one, err := rested(ctx, env, s, in)
		if err != nil {
			return err
		}
		def, err := c.definition(ctx, s, in.GetWorkflow(), in.GetDefinition())
		if err != nil {
			return err
		}
		e := view.Explain(env, def, one)
		if running, ok := s.(system); ok {
			e.Why = strings.Replace(e.Why, standing.NoneOrBusy(one.Worker), noneOrBusy(ctx, running, one.Worker), 1)
		}
		return e.Print(env, c.Rules)
	})
}

// commit prints why a commit of the record has its events.
func (c explainCommand) commit(ctx context.Context, env *term.Env, s reader) error {
	before, commit, err := c.upTo(ctx, s)
	if err != nil {
		return err
	}
	after := instance.Evolve(before, commit)
	def, err := c.definition(ctx, s, after.Workflow, after.Definition)
	if err != nil {
		return err
	}
	return view.Decided(env, def, before, commit).Print(env)
}

// upTo returns the commit of --seq, and the instance before it.
func (c explainCommand) upTo(ctx context.Context, s reader) (before instance.Instance, commit instance.Commit, err error) {
	records, err := s.History(ctx, c.ID, 0)
	if err != nil {
		return before, commit, err
	}
	before.ID = c.ID
	commits := view.Commits(records)
	for _, commit := range commits {
		if commit.Seq == c.Seq {
			return before, commit, nil
		}
		before = instance.Evolve(before, commit)
	}
	return before, commit, fmt.Errorf("%s has no commit %d; signalbox history %s --all lists its commits, %d to %d",
		c.ID, c.Seq, c.ID, commits[0].Seq, commits[len(commits)-1].Seq)
}

// definition returns the definition of a hash.
func (c explainCommand) definition(ctx context.Context, s reader, name, hash string) (*workflow.Definition, error) {
	reply, err := s.Definition(ctx, hash)
	if no := new(instance.Refusal); errors.As(err, &no) {
		return nil, fmt.Errorf("%s waits: the orchestrator cannot load its definition %.12s (%s); run the version of Signalbox that stored it, or a newer one",
			c.ID, hash, no.What)
	}
	if err != nil {
		return nil, err
	}
	def, err := workflow.Load(name, reply.GetSource())
	if err != nil {
		return nil, fmt.Errorf("the definition of %s: %w", c.ID, err)
	}
	return def, nil
}

// noneOrBusy names the case: no agent of the role runs, or all have other work. It says both
// where the queue cannot be read.
func noneOrBusy(ctx context.Context, s system, role string) string {
	both := standing.NoneOrBusy(role)
	if role == "" {
		return both
	}
	js, err := access.JetStream(ctx, s.nats)
	if err != nil {
		return both
	}
	consumer, err := js.Consumer(ctx, subject.EventStream, role)
	if err != nil {
		return both
	}
	info := consumer.CachedInfo()
	direct, err := s.direct(ctx, role)
	busy := info.NumAckPending > 0 || direct > 0
	switch {
	case err != nil:
		return both
	case info.NumWaiting == 0 && !busy:
		return fmt.Sprintf("no %s runs: start one, or give it a brain", role)
	case info.NumWaiting == 0:
		return fmt.Sprintf("each %s that runs has other work", role)
	}
	return both
}

// direct returns how many pieces of work agents of a role hold now. Work that was given
// directly is in no queue.
func (s system) direct(ctx context.Context, role string) (n int, err error) {
	all, err := s.List(ctx, &pb.ListRequest{})
	for _, one := range all {
		worker := cmp.Or(one.GetWorker(), one.GetOwner())
		if worker == role && one.GetAgent() != "" && one.GetLease().AsTime().After(time.Now()) {
			n++
		}
	}
	return n, err
}
