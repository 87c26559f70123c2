package engine

import (
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// decide decides a command, and has what it gives the owner of a state to do
// claimed by an agent that waits for it, if there is one: whoever commits the
// events tells it. Work of a lifecycle with an order, and work that was lost with
// an agent, goes by the queue; so does what a claim is turned aside to, for a
// commit has one claim.
func (e *Engine) decide(def *workflow.Definition, in instance.Instance, cmd instance.Command) ([]instance.Event, *waiter, error) {
	if byQueue(cmd.Do) || len(def.Order) > 0 {
		events, err := instance.Decide(def, in, cmd)
		return events, nil, err
	}
	var w *waiter
	events, given, err := instance.DecideAndClaim(def, in, cmd, func(role string) (instance.Claim, bool) {
		if w = e.view.lines.next(role); w == nil {
			return instance.Claim{}, false
		}
		return w.claim, true
	})
	if w != nil && !given {
		w.told(Outcome{}, ErrNoWork)
		w = nil
	}
	return events, w, err
}

func byQueue(do instance.Action) bool {
	switch do.(type) {
	case instance.Lapse, instance.Claim:
		return true
	}
	return false
}
