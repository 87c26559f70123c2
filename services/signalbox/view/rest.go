package view

import (
	"fmt"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Rest is why nobody gets the work before a time: a fault whose end is known, such as a
// limit of the forge.
type Rest struct {
	Until  time.Time `json:"until"`
	Reason string    `json:"reason"`
}

// MayRest reports whether the events since the state was entered say more than the
// instance does.
func (in Instance) MayRest() bool {
	return in.Closed == "" && !in.Paused && in.Parked == nil && in.Claim == nil && in.Worker != ""
}

// Resting returns the instance with the rest that its newest events tell of, if it lasts.
func (in Instance) Resting(now time.Time, events []Event) Instance {
	in.Rest = nil
	for _, e := range events {
		switch e.Event {
		case "released":
			if e.Until.After(now) {
				in.Rest = &Rest{e.Until, e.Reason}
			}
		case "claimed", "dispatched", "moved":
			in.Rest = nil
		}
	}
	return in
}

// text says until when it rests.
func (r Rest) text(env *term.Env) string {
	return fmt.Sprintf("rests for %s, until %s", term.Duration(r.Until.Sub(env.Now())), r.Until.UTC().Format("2006-01-02 15:04:05 MST"))
}
