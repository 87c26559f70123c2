package resolve

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/gateway/app"
	"github.com/signalbox/signalbox/services/signalbox/box"
	"github.com/signalbox/signalbox/services/signalbox/narrator"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// run is one resolve under way.
type run struct {
	env     *term.Env
	n       *narrator.Narrator
	source  source
	issue   instance.Issue
	answers []byte // not used yet
	dir     string
	def     *workflow.Definition // of new runs
	files   files                // what is written for others to read

	box    *box.Box
	forge  *github.Client // as the person at this machine
	client *client.Client
	number int
	after  uint64 // sequence up to which the story was told by an earlier run
	waits  bool   // that run ended waiting for answers
}

func (r *run) main(ctx context.Context, b *box.Box) error {
	var err error
	r.box, r.client = b, client.New(b.NATS, r.env.User)
	if r.forge, err = github.New(github.Config{BaseURL: b.Forge.API(), Token: b.Forge.Secret}); err != nil {
		return err
	}
	at, err := r.forge.Repository(ctx, r.source.name)
	if err != nil {
		return err
	}
	if err := r.source.give(ctx, at.CloneURL, b.Forge.Secret); err != nil {
		return err
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	waits, err := r.follow(ctx)
	if err != nil {
		return err
	}
	return r.finish(ctx, at, waits)
}

// begin takes up the issue: the one an earlier run left open, or a new one.
func (r *run) begin(ctx context.Context) error {
	open, err := r.client.List(ctx, &pb.ListRequest{})
	if err != nil {
		return err
	}
	for _, in := range open {
		prefix, number, _ := cutLast(in.GetInstance())
		if prefix != r.source.name || in.GetTitle() != r.issue.Title {
			continue
		}
		whole, err := r.client.Get(ctx, in.GetInstance())
		if err != nil {
			return err
		}
		if why := r.stale(whole); why != "" {
			r.n.Say("starting anew: %s", why)
			if _, err := r.client.Cancel(ctx, in.GetInstance(), "resolve starts anew: "+why); err != nil {
				return err
			}
			continue
		}
		r.number, r.after, r.waits = number, whole.GetSeq(), r.awaits(whole.GetState()) || held(whole) != nil
		r.n.Say("going on with %s, in %s", in.GetInstance(), in.GetState())
		if whole.GetPaused() {
			_, err = r.client.Resume(ctx, in.GetInstance(), "resolve was called again")
		}
		return err
	}
	if r.answers != nil {
		return fmt.Errorf("%w: --answers continues a run that waits, and none of %q does", ErrUnresolved, r.issue.Title)
	}
	made, err := r.forge.CreateIssue(ctx, r.source.name, forge.NewIssue{Title: r.issue.Title, Body: r.issue.Body, Labels: r.issue.Labels})
	r.number = made.Number
	return err
}

// stale says why the instance of an earlier run is not what is asked for now.
func (r *run) stale(in *pb.Instance) string {
	stopped := r.awaits(in.GetState()) || held(in) != nil
	switch {
	case in.GetWorkflow() != r.def.Name:
		return "the earlier run was of the lifecycle " + in.GetWorkflow()
	case strings.TrimSpace(in.GetIssue().GetBody()) != strings.TrimSpace(r.issue.Body):
		return "the report has changed"
	case stopped && len(openQuestions(in)) == 0 && r.answers == nil && !r.env.Person:
		return "the earlier run came to a stop without a question"
	}
	return ""
}

func cutLast(id string) (string, int, bool) {
	i := strings.LastIndexByte(id, '/')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(id[i+1:])
	return id[:i], n, err == nil
}

// id is the instance.
func (r *run) id() string { return app.Name(r.source.name, r.number) }

// follow narrates until the instance ends, or waits for people's words that
// nobody here has; then waits is true.
func (r *run) follow(ctx context.Context) (waits bool, err error) {
	if r.waits {
		if answered, err := r.answer(ctx); err != nil || !answered {
			return true, err
		}
	}
	err = r.client.Watch(ctx, r.id(), r.after, func(seen client.Seen) error {
		r.n.Commit(seen)
		for _, e := range seen.Events {
			stopped := false
			switch e := e.(type) {
			case instance.Paused, instance.CancelledBy:
				return client.ErrDone
			case instance.Moved:
				if e.Kind == workflow.Final {
					return client.ErrDone
				}
				stopped = r.awaits(e.To)
			case instance.Escalated:
				stopped = e.RequiresHuman
			case instance.ParkedUntil:
				return client.ErrDone // only time, or somebody outside, brings it on
			}
			if !stopped {
				continue
			}
			answered, err := r.answer(ctx)
			if err != nil {
				return err
			}
			if !answered {
				waits = true
				return client.ErrDone
			}
		}
		return nil
	})
	return waits, err
}
