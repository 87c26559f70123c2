package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// MayRest reports whether the events since the state was entered say more than the
// instance does.
func (in Instance) MayRest() bool {
	return in.Closed == "" && !in.Paused && in.Parked == nil && in.Worker != "" && (in.Claim == nil || in.Faults > 0)
}

// Fault is a fault of the machinery that made an agent give the work back.
type Fault struct {
	Agent  string    `json:"agent"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// sentence states the agent that gave the work back, when and why.
func (f Fault) sentence(env *term.Env) string {
	return fmt.Sprintf("%s gave the work back %s ago: %s.", f.Agent, env.Since(f.At), strings.TrimRight(f.Reason, "."))
}

// Resting returns the instance with the rest that its newest commits tell of, if it lasts,
// and with the last fault in its state. When another role gets the work, because it is asked
// or has answered, the faults before are over.
func (in Instance) Resting(now time.Time, commits []instance.Commit) Instance {
	rest := instance.Rest{}
	in.LastFault = nil
	for _, c := range commits {
		rest = rest.After(c.Events)
		for _, e := range c.Events {
			switch e := e.(type) {
			case instance.Moved:
				in.LastFault = nil
			case instance.Asked:
				if e.To != "" {
					in.LastFault = nil
				}
			case instance.Answered:
				if in.askedOfRole(e.Number) {
					in.LastFault = nil
				}
			case instance.Released:
				if e.Fault {
					in.LastFault = &Fault{Reason: e.Reason, Agent: e.Agent, At: c.At}
				}
			}
		}
	}
	if in.Rest = nil; in.Claim == nil && rest.Until.After(now) {
		in.Rest = &rest
	}
	return in
}

// gaveBack returns a sentence to append about the last fault, empty if none is known.
func (in Instance) gaveBack(env *term.Env) string {
	f := in.LastFault
	if f == nil {
		return ""
	}
	return fmt.Sprintf(" %s gave it back before, %s ago: %s.", f.Agent, env.Since(f.At), strings.TrimRight(f.Reason, "."))
}

// askedOfRole reports whether a question was put to a role, and not to people.
func (in Instance) askedOfRole(number int) bool {
	return slices.ContainsFunc(in.Questions, func(q instance.Question) bool { return q.Number == number && q.To != "" })
}

// restsFor says until when an instance rests.
func restsFor(env *term.Env, until time.Time) string {
	return fmt.Sprintf("for %s, until %s", term.Duration(until.Sub(env.Now())), until.UTC().Format("2006-01-02 15:04:05 MST"))
}
