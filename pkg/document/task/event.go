// Package task is the log of an instance as the task lifecycle's source prints
// it: its events, its state and its queries. Any lifecycle can be read so.
package task

import (
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Kind names an event. The first is the source's spelling; it asks for the other
// four and gives them no names.
type Kind string

const (
	StateTransition  Kind = "STATE_TRANSITION"
	FailureIncrement Kind = "FAILURE_INCREMENT"
	TimeoutWarning   Kind = "TIMEOUT_WARNING"
	AgentAssignment  Kind = "AGENT_ASSIGNMENT"
	CTOIntervention  Kind = "CTO_INTERVENTION"
	// TaskAbandoned is an addition: people gave the task up, which marks it as failed.
	TaskAbandoned Kind = "TASK_ABANDONED"
)

// Event is one line of a task's log (task lifecycle, event format).
type Event struct {
	Timestamp time.Time      `json:"timestamp"`
	TaskID    string         `json:"taskId"`
	Event     Kind           `json:"event"`
	From      string         `json:"from"`
	To        string         `json:"to"`
	Actor     string         `json:"actor"`
	Reason    string         `json:"reason"`
	Metadata  map[string]any `json:"metadata"`
}

// Orchestrator is the actor of what no agent and no person did.
const Orchestrator = "build orchestrator"

// intervention is the state whose entry is an event of its own.
const intervention = "cto_intervention"

// Events translates the commits of an instance, oldest first, to the events of the source:
// transitions, failures, timeouts, assignments and interventions.
func Events(id string, commits []instance.Commit) []Event { return translate(id, commits).out }

func translate(id string, commits []instance.Commit) translator {
	t := translator{in: instance.Instance{ID: id}}
	for _, c := range commits {
		for _, e := range c.Events {
			t.translate(c, e)
			t.in = instance.Evolve(t.in, instance.Commit{Seq: c.Seq, At: c.At, Events: []instance.Event{e}})
			t.turned = e
		}
	}
	return t
}

type translator struct {
	in     instance.Instance // before the event that is translated
	turned instance.Event    // the one before it: a gate's is the owner's doing
	called *Event            // the CTO is to be asked, unless the move goes on to people
	tries  int               // of the CTO
	out    []Event
}

func (t *translator) translate(c instance.Commit, e instance.Event) {
	add := func(kind Kind, from, to, actor, reason string, metadata map[string]any) {
		if metadata == nil {
			metadata = map[string]any{}
		}
		t.out = append(t.out, Event{c.At.UTC(), t.in.ID, kind, from, to, actor, reason, metadata})
	}
	switch e := e.(type) {
	case instance.Opened:
		add(StateTransition, "", e.State, Actor(c.Actor), "created", nil)
	case instance.Claimed:
		add(AgentAssignment, t.in.State, t.in.State, Agent(e.Role), "assigned to "+e.Agent, map[string]any{"agent": e.Agent})
	case instance.CancelledBy: // abandoned, which is a failure
		add(TaskAbandoned, t.in.State, t.in.State, Actor(c.Actor), e.Reason, map[string]any{"failed": true, "failureReason": e.Reason})
	case instance.TimedOut:
		add(TimeoutWarning, e.State, e.State, Orchestrator, string(e.Level), map[string]any{
			"level": string(e.Level), "minutes": e.After.Minutes(), "timeoutMinutes": t.in.Timeout.Minutes(),
		})
	case instance.Moved:
		actor := t.mover(c, e)
		if e.Failure {
			add(FailureIncrement, e.From, e.From, t.owner(), e.Reason, map[string]any{"failureCount": t.in.FailuresIn(e.From) + 1})
		}
		add(StateTransition, e.From, e.To, actor, e.Reason, nil)
		if t.called = nil; e.To == intervention {
			t.called = &Event{c.At.UTC(), t.in.ID, CTOIntervention, e.From, e.To, actor, e.Reason, nil}
		}
	case instance.Dispatched:
		if t.called != nil {
			t.tries++
			t.called.Metadata = map[string]any{"ctoAttempts": t.tries}
			t.out, t.called = append(t.out, *t.called), nil
		}
	}
}

// mover returns the party that made a move. A result or a standing rule is the owner's of
// the state that is left. A limit, or a state without an owner, is the orchestrator's. A
// signal or an override is its sender's.
func (t *translator) mover(c instance.Commit, e instance.Moved) string {
	switch e.Rule {
	case "override", "signal":
		return Actor(c.Actor)
	case "decide", "proposed", "claimed", "always":
		return t.owner()
	}
	if _, gate := t.turned.(instance.GateRefused); gate {
		return t.owner()
	}
	return Orchestrator
}

func (t *translator) owner() string {
	if t.in.Owner == "" {
		return Orchestrator
	}
	return Agent(t.in.Owner)
}

// Agent is how the source prints a role.
func Agent(role string) string { return "@agent-" + role }

// Actor is how the source prints the sender of a command: an agent "cto/cto-1" by
// its role, a person as in the log.
func Actor(who string) string {
	role, _, agent := strings.Cut(who, "/")
	if agent && !strings.Contains(role, ":") {
		return Agent(role)
	}
	return who
}
