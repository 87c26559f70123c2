package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/eventstore"
	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/logcheck"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type audit struct {
	examining
	Stream string `name:"stream" env:"-" placeholder:"NAME" help:"Read this stream instead, such as a mirror of the log."`
	Order  bool   `name:"order" env:"-" help:"Count a claim past something more urgent as a violation; it is only told otherwise, for orchestrators that work side by side may each choose the most urgent they know of."`
}

// Help says more than fits a line.
func (audit) Help() string {
	return `Sequences have to count from one without a gap, up to where the watermark says the log was; each commit to be chained
to its instance's last one; each move to be in the table of the definition the instance is on; claims not to overlap, and
only their holders to report. What is wrong is printed with its sequence, instance and rule, and the reading goes on
behind it. Ends with 0 if nothing is wrong, 1 if something is. Nothing is changed; see "The log is damaged" in
docs/operations.md for what to do.`
}

// Run reads a log from its beginning to its end and names what must not be in it.
func (c audit) Run(ctx context.Context, env *term.Env) error {
	return c.visit(ctx, env, func(ctx context.Context, at site) error {
		start := env.Now()
		log, err := store.Look(ctx, at.js, c.Stream, store.Config{Watermark: at.watermark})
		if err != nil {
			return fmt.Errorf("the log at %s: %w", at.at, err)
		}
		known, err := newDefinitions(ctx, at.js)
		if err != nil {
			return err
		}
		e := examiner{checker: logcheck.New(known.find), order: logcheck.NewOrder(known.find)}
		e.checker.Lean = true
		if err := log.Read(ctx, 1, e.see); err != nil {
			return err
		}
		e.checker.End(max(log.Last, log.Want))
		if e.checker.Torn() {
			e.beside(ctx, env, at.js, log)
		}
		found := e.audit(log, c.Order)
		found.Seconds = env.Now().Sub(start).Round(time.Millisecond).Seconds()
		if err := errors.Join(known.err, found.Print(env)); err != nil {
			return err
		}
		if n := len(found.Violations); n > 0 {
			return fmt.Errorf("the log has %s", view.Count(n, "violation"))
		}
		return nil
	})
}

// examiner checks a log message by message.
type examiner struct {
	checker *logcheck.Checker
	order   *logcheck.Order
	lost    bool // the order cannot be told any more
}

func (e *examiner) see(m store.Message) error {
	c, err := m.Commit()
	if err != nil {
		at, _ := subject.ParseEvent(m.Subject)
		e.checker.Foreign(m.Seq, at.Instance, err)
		return nil
	}
	e.checker.Add(c)
	return e.choose(c)
}

// choose judges the order for as long as all is known that it goes by.
func (e *examiner) choose(c eventstore.Commit) error {
	e.lost = e.lost || e.checker.Torn()
	if !e.lost && e.order.Add(c) != nil {
		e.lost = true // the checker has said so
	}
	return nil
}

func (e *examiner) audit(log *store.Survey, strict bool) view.Audit {
	r := e.checker.Report()
	a := view.Audit{
		Stream: log.Stream, Identity: log.Identity, Created: log.Created, Report: r,
		Last: log.Last, Watermark: log.Want, Choices: e.order.Choices, Urgent: e.order.Violations(),
	}
	if log.Fault != nil {
		a.Violations = append([]logcheck.Violation{{Rule: logcheck.Identity, Text: log.Fault.Error()}}, a.Violations...)
	}
	if strict {
		a.Violations = append(a.Violations, a.Urgent...)
	}
	return a
}
