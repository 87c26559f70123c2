package up

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// teller prints a line for each move, and loudly when an instance waits for people.
type teller struct {
	env     *term.Env
	state   map[string]string // by instance
	entered map[string]time.Time
}

func newTeller(env *term.Env) *teller {
	here := *env
	here.Stdout, here.JSON = env.Stderr, false
	return &teller{env: &here, state: map[string]string{}, entered: map[string]time.Time{}}
}

// tell prints what happens from now on until ctx ends.
func tell(ctx context.Context, env *term.Env, s *allinone.System) {
	t, c := newTeller(env), client.New(s.NATS, env.User)
	newest, err := c.Newest(ctx)
	if err == nil {
		err = c.Watch(ctx, "", newest, t.commit)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(env.Stderr, "moves are not printed any more: %s\n", term.Line(err.Error()))
	}
}

// commit prints the events of one commit that people want to know of.
func (t *teller) commit(c client.LogEntry) error {
	for _, e := range view.Events(c.Instance, t.state[c.Instance], c.Commit) {
		took := time.Duration(0)
		if at, known := t.entered[c.Instance]; known {
			took = e.Time.Sub(at)
		}
		view.Line(t.env, e, took, true)
		if e.To != "" {
			t.state[c.Instance], t.entered[c.Instance] = e.To, e.Time
		}
		if try, waits := waitsFor(e); waits {
			t.env.Printf("%s\n", t.env.Paint(term.Wait, fmt.Sprintf(">>> %s WAITS FOR YOU: %s", term.Line(c.Instance), term.Line(e.Reason))))
			t.env.Printf("%s\n", t.env.Paint(term.Wait, fmt.Sprintf("    signalbox %s %s", try, term.Line(c.Instance))))
		}
	}
	return nil
}

// waitsFor reports whether people have to act after an event, and by which command.
func waitsFor(e view.Event) (try string, waits bool) {
	switch {
	case e.Event == "moved" && e.Kind == string(workflow.Wait), e.Event == "escalated" && e.Human:
		return "answer", true
	case e.Event == "paused":
		return "resume", true
	}
	return "", false
}
