package engine

import (
	"cmp"
	"context"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// commit decides the command at its time and appends what follows. The caller is
// within the gate of the lifecycle.
func (e *Engine) commit(ctx context.Context, def *workflow.Definition, now *entry, cmd instance.Command) (out Outcome, err error) {
	cmd.At = cmd.At.UTC().Round(0) // no monotonic reading: what is kept is what is replayed
	if cmd.At.Before(now.in.UpdatedAt) {
		cmd.At = now.in.UpdatedAt // two clocks: time within an instance never runs back
	}
	events, waited, err := e.decide(def, now.in, cmd)
	if err != nil {
		return Outcome{}, err
	}
	if waited != nil {
		defer func() { waited.hears(out, err) }()
	}
	data, err := wire.Events(cmd.Actor, events)
	if err != nil {
		return Outcome{}, err
	}
	to, wakes := address(now.in.State, events)
	stored := eventstore.Commit{
		ID: cmd.ID, Workflow: cmp.Or(now.in.Workflow, def.Name), State: to, Instance: cmd.Instance, Wakes: wakes,
		Time: cmd.At, Prev: now.in.Seq, Data: data, Trace: trace(ctx),
	}
	stored.Chain = eventstore.NextChain(now.head.chain(), stored)
	m := &making{stored: stored, now: now, events: events, actor: cmd.Actor}
	e.view.makes(m)
	seq, err := e.Store.Append(ctx, stored)
	next := e.view.made(m)
	if err != nil {
		if !sure(err) {
			e.desks.of(def.Name).doubt.Store(true)
		}
		return Outcome{}, err
	}
	if next == nil || next.in.Seq != seq {
		next = m.at(seq)
		e.view.put(next, len(def.Order) > 0)
	}
	if e.Committed != nil {
		e.Committed(now.in, next.in, m.commit(seq))
	}
	return Outcome{Seq: seq, Events: events, Instance: next.in}, nil
}
