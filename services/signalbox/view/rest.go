package view

import (
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// MayRest reports whether the events since the state was entered say more than the
// instance does.
func (in Instance) MayRest() bool {
	return in.Closed == "" && !in.Paused && in.Parked == nil && in.Claim == nil && in.Worker != ""
}

// Resting returns the instance with the rest that its newest commits tell of, if it lasts.
func (in Instance) Resting(now time.Time, commits []instance.Commit) Instance {
	rest := instance.Rest{}
	for _, c := range commits {
		rest = rest.After(c.Events)
	}
	if in.Rest = nil; rest.Until.After(now) {
		in.Rest = &rest
	}
	return in
}

// restsFor says until when an instance rests.
func restsFor(env *term.Env, until time.Time) string {
	return fmt.Sprintf("for %s, until %s", term.Duration(until.Sub(env.Now())), until.UTC().Format("2006-01-02 15:04:05 MST"))
}
