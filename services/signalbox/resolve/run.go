package resolve

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/gateway/app"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/narrator"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// run is one call of resolve. Its methods run in the goroutine of main.
type run struct {
	env     *term.Env
	n       *narrator.Narrator
	source  source
	issue   instance.Issue
	answers []byte // of --answers; nil when they have been given
	dir     string
	def     *workflow.Definition // of new runs
	files   files                // written for other programs
	deliver delivery             // what is done with the branch
	again   bool                 // also what an earlier call resolved
	require string               // shown: an unproven branch is a failure; empty: the policy decides
	tester  bool                 // a brain writes tests

	system *allinone.System
	forge  *github.Client // as the person at this machine
	client *client.Client
	number int
	after  uint64 // sequence of the last commit that an earlier run narrated
	waits  bool   // that run ended waiting for answers

	earlier bool // an earlier run resolved the report
}

// main is the Main of the system.
func (r *run) main(ctx context.Context, s *allinone.System) error {
	var err error
	r.system, r.client = s, client.New(s.NATS, r.env.User)
	r.n.Passing(s.Forge.URL)
	if r.forge, err = github.New(github.Config{BaseURL: s.Forge.API(), Token: s.Forge.Secret}); err != nil {
		return err
	}
	at, err := r.forge.Repository(ctx, r.source.name)
	if err != nil {
		return err
	}
	if err := r.source.push(ctx, at.CloneURL, s.Forge.Secret); err != nil {
		return err
	}
	r.n.Say("sandbox: %s", s.Sandbox.Describe())
	for _, warning := range append(r.source.lacks(ctx), allinone.Warnings(ctx, r.source.dir)...) {
		r.n.Say("warning: %s", warning)
	}
	if !r.again && !r.continues(ctx) {
		done, err := r.resolved(ctx, at.DefaultBranch)
		if err != nil {
			return err
		}
		if done != nil {
			_, r.number = cutLast(done.GetInstance())
			r.earlier = true
			return r.finish(ctx, at, false)
		}
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	s.Begin()
	waits, err := r.follow(ctx)
	if err != nil {
		return err
	}
	return r.finish(ctx, at, waits)
}

// continues reports whether --answers may go on with an open instance of the report.
func (r *run) continues(ctx context.Context) bool {
	if r.answers == nil {
		return false
	}
	open, err := r.client.List(ctx, &pb.ListRequest{})
	return err != nil || slices.ContainsFunc(open, func(in *pb.Summary) bool {
		prefix, _ := cutLast(in.GetInstance())
		return prefix == r.source.name && in.GetTitle() == r.issue.Title
	})
}

// begin resumes the open instance of an earlier run, or opens the issue on the forge.
// It cancels instances of earlier runs that are stale, and pauses those of other reports.
func (r *run) begin(ctx context.Context) error {
	open, err := r.client.List(ctx, &pb.ListRequest{})
	if err != nil {
		return err
	}
	for _, in := range open {
		prefix, _ := cutLast(in.GetInstance())
		if prefix != r.source.name || in.GetTitle() == r.issue.Title || in.GetPaused() || in.GetParent() != "" || r.awaits(in.GetState()) {
			continue
		}
		if _, err := r.client.Pause(ctx, in.GetInstance(), "another report is resolved; resolve with this report goes on"); err != nil {
			return err
		}
		r.n.Say("%s, %q, is unfinished and paused; resolve with its report goes on", in.GetInstance(), in.GetTitle())
	}
	for _, in := range open {
		prefix, number := cutLast(in.GetInstance())
		if prefix != r.source.name || in.GetTitle() != r.issue.Title {
			continue
		}
		whole, err := r.client.Get(ctx, in.GetInstance())
		if err != nil {
			return err
		}
		if why := r.stale(whole); why != "" {
			r.n.Say("starting again: %s", why)
			if _, err := r.client.Cancel(ctx, in.GetInstance(), "resolve starts again: "+why); err != nil {
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

// stale returns why the instance of an earlier run cannot be resumed, "" if it can.
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

// cutLast splits NAME/NUMBER. The number is 0 if id has none.
func cutLast(id string) (prefix string, number int) {
	i := strings.LastIndexByte(id, '/')
	if i < 0 {
		return "", 0
	}
	number, _ = strconv.Atoi(id[i+1:])
	return id[:i], number
}

// id returns the instance's name.
func (r *run) id() string { return app.Name(r.source.name, r.number) }

// follow narrates until the instance ends, or until it waits for answers that this
// run does not have; then waits is true.
func (r *run) follow(ctx context.Context) (waits bool, err error) {
	if r.waits {
		if answered, err := r.answer(ctx); err != nil || !answered {
			return true, err
		}
	}
	err = r.client.Watch(ctx, r.id(), r.after, func(seen client.LogEntry) error {
		r.n.Commit(seen)
		for _, e := range seen.Events {
			stopped := false
			switch e := e.(type) {
			case instance.Paused, instance.CancelledBy:
				return client.ErrStopWatch
			case instance.Moved:
				if e.Kind == workflow.Final {
					return client.ErrStopWatch
				}
				stopped = r.awaits(e.To)
			case instance.Escalated:
				stopped = e.RequiresHuman
			case instance.Signalled: // what was said answers nothing
				stopped = e.Name == instance.Remarked
			case instance.ParkedUntil:
				return client.ErrStopWatch // only a deadline or an event from outside moves it
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
				return client.ErrStopWatch
			}
		}
		return nil
	})
	return waits, err
}
