package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type watchCommand struct {
	running
	ID     string `arg:"" optional:"" name:"id" help:"Only this instance, until it closes. Without it all, until interrupted."`
	Status bool   `name:"exit-status" env:"-" help:"End with 1 if the instance ends by a failure, too, not only if it is cancelled."`
}

// Run prints events as they are committed. It returns an error if the instance does
// not end in a final state, or with --exit-status in one of failure.
func (c watchCommand) Run(ctx context.Context, env *term.Env) error {
	if c.Status && c.ID == "" {
		return service.Usagef("--exit-status: want the instance whose end it is about")
	}
	s, err := c.connect(ctx, env)
	if err != nil {
		return err
	}
	defer s.nats.Close()
	if p, ok := access.Connected(ctx, s.nats); ok && !p.May(subject.Watch) {
		return fmt.Errorf("%s may not watch; permitted: %s", p, strings.Join(access.Who(subject.Watch), ", "))
	}
	w := watcher{env: env, id: c.ID, state: map[string]string{}, entered: map[string]time.Time{}}
	from := uint64(0)
	err = c.callOn(ctx, env, s, func(ctx context.Context, s system) error {
		if c.ID == "" {
			from, err = s.Newest(ctx)
			return err
		}
		return completed(ctx, s, &c.ID, func() error {
			w.id = c.ID
			from, err = w.start(ctx, s)
			return err
		})
	})
	if err != nil {
		return err
	}
	if w.over {
		return c.ended(ctx, env, s, w)
	}
	fmt.Fprintf(env.Stderr, "watching from sequence %d on; Ctrl-C ends it\n", from+1)
	err = s.Watch(ctx, c.ID, from, w.print)
	switch {
	case w.over:
		return c.ended(ctx, env, s, w)
	case ctx.Err() != nil && c.ID == "":
		return nil // the only end of a watch without an instance
	case ctx.Err() != nil:
		return fmt.Errorf("%s has not ended: %s", c.ID, w.state[c.ID])
	}
	return err
}

// ended returns how the instance ended.
func (c watchCommand) ended(ctx context.Context, env *term.Env, s system, w watcher) error {
	if w.ended != nil || !c.Status {
		return w.ended
	}
	return c.callOn(ctx, env, s, func(ctx context.Context, s system) error {
		in, err := s.Get(ctx, c.ID)
		if err != nil {
			return err
		}
		def, err := definitionOf(ctx, s, in)
		if err != nil {
			return err
		}
		if in.GetFailed() || def.EndsInFailure(in.GetState()) {
			return fmt.Errorf("%s ended in %s: %s", c.ID, in.GetState(), in.GetReason())
		}
		return nil
	})
}

// watcher prints commits and tracks the states of instances.
type watcher struct {
	env     *term.Env
	id      string // the instance; empty: all
	state   map[string]string
	entered map[string]time.Time
	over    bool // id is closed
	ended   error
}

// start prints the state of the instance and returns its sequence.
func (w *watcher) start(ctx context.Context, s system) (uint64, error) {
	p, err := s.Get(ctx, w.id)
	if err != nil {
		return 0, err
	}
	in := view.Of(p)
	w.state[w.id], w.entered[w.id] = in.State, in.EnteredAt
	if !w.env.JSON {
		view.Here(w.env, in)
	}
	if in.Closed != "" {
		w.close(in.Closed == instance.Ended, in.Reason)
	}
	return in.Seq, nil
}

// print prints the events of a commit. It returns client.ErrStopWatch when id is closed.
func (w *watcher) print(c client.LogEntry) error {
	for _, e := range view.Events(c.Instance, w.state[c.Instance], c.Commit) {
		took := time.Duration(0)
		if at, ok := w.entered[c.Instance]; ok {
			took = e.Time.Sub(at)
		}
		if w.env.JSON {
			if err := w.env.Print(e); err != nil {
				return err
			}
		} else {
			view.Line(w.env, e, took, w.id == "")
		}
		if e.To != "" {
			w.state[c.Instance], w.entered[c.Instance] = e.To, e.Time
		}
		if over, final := e.Over(); over && w.id != "" {
			w.close(final, e.Reason)
		}
	}
	if w.over {
		return client.ErrStopWatch
	}
	return nil
}

func (w *watcher) close(final bool, reason string) {
	w.over = true
	if !final {
		w.ended = fmt.Errorf("%s was cancelled in %s: %s", w.id, w.state[w.id], reason)
	}
}
