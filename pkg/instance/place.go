package instance

import (
	"fmt"
	"strings"
)

// Limit is how much work may be under way at a time: how many instances may be claimed.
type Limit struct {
	State  string `json:"state,omitempty"` // only in this state; empty: in any
	Role   string `json:"role,omitempty"`  // only by this role; empty: by any
	AtOnce int    `json:"at_once"`         // above zero
}

// String is the limit for people.
func (l Limit) String() string {
	text := fmt.Sprintf("at most %d at a time", l.AtOnce)
	if l.State != "" {
		text += " in " + l.State
	}
	if l.Role != "" {
		text += " by " + l.Role
	}
	return text
}

// WaitsForPlace begins the reason of a park that lasts until a limit leaves a place.
const WaitsForPlace = "it waits for a place: "

// HoldBack parks work whose claim would exceed a limit. Only the engine gives it.
type HoldBack struct {
	Work   uint64
	Reason string // the limit
}

// Admit dispatches work again that HoldBack has parked. Only the engine gives it.
type Admit struct{ Work uint64 }

// WaitsForPlace reports whether the work is parked until a limit leaves a place.
func (in Instance) WaitsForPlace() bool {
	return in.Parked != nil && strings.HasPrefix(in.Parked.Reason, WaitsForPlace)
}

// decide parks the work of a state that nobody has claimed.
func (a HoldBack) decide(d *decision) error {
	switch {
	case a.Work != d.in.Work || d.in.Parked != nil || !d.ownerIsWorker() || d.in.Paused:
		return d.refuse(CodeStale, nil, "work %d of %s is not to be claimed", a.Work, d.in.State)
	case d.in.Claim.Live(d.cmd.At):
		return d.refuse(CodeHeld, nil, "%s holds it until %s", d.in.Claim.Agent, stamp(d.in.Claim.Lease))
	}
	d.record(ParkedUntil{State: d.in.State, Reason: WaitsForPlace + a.Reason})
	return nil
}

// decide dispatches the work again.
func (a Admit) decide(d *decision) error {
	switch {
	case a.Work != d.in.Work || !d.in.WaitsForPlace():
		return d.refuse(CodeStale, nil, "work %d of %s does not wait for a place", a.Work, d.in.State)
	case d.in.Paused || !d.ownerIsWorker():
		return d.refuse(CodePaused, nil, "%s waits", d.in.State)
	}
	d.dispatch("there is a place")
	return nil
}
