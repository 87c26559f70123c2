package view

import (
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/standing"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Resting returns the instance with the rest that its newest commits tell of, if it lasts,
// and with the last fault in its state.
func (in Instance) Resting(now time.Time, commits []instance.Commit) Instance {
	in.past = standing.PastOf(in.whole, commits)
	in.LastFault, in.Rest = in.past.Fault, nil
	if rest := in.past.Rest; in.Claim == nil && rest.Until.After(now) {
		in.Rest = &rest
	}
	return in
}

// clock is that of the terminal.
func clock(env *term.Env) standing.Clock { return standing.Clock{Now: env.Now(), Span: term.Duration} }
