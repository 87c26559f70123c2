package instance

import (
	"fmt"
	"strings"
)

// Code says why a command was refused. Codes are wire names.
type Code string

const (
	Unknown      Code = "unknown_instance"
	Exists       Code = "exists"
	Invalid      Code = "invalid"       // the command itself is malformed
	NotPermitted Code = "not_permitted" // the table does not have the move
	NotOwner     Code = "not_owner"     // the state belongs to another role
	Stale        Code = "stale"         // the work was dispatched for an earlier moment
	Held         Code = "held"          // another agent's lease lives
	Lapsed       Code = "lapsed"        // the claim is not, or no longer, the caller's
	OnHold       Code = "paused"
	Over         Code = "closed"
	Undecided    Code = "undecided" // the definition has no answer: a fault in it
	Forbidden    Code = "forbidden" // the definition does not let this actor do it
	Early        Code = "early"     // a timer fired before it was due
)

// Refusal is a command's truthful no. Nothing was recorded.
type Refusal struct {
	Code     Code
	Instance string
	What     string   // what was refused and why
	Allowed  []string // what would have been taken, if anything
}

// Error implements error.
func (r *Refusal) Error() string {
	s := fmt.Sprintf("%s: %s", r.Instance, r.What)
	if len(r.Allowed) > 0 {
		s += "; permitted: " + strings.Join(r.Allowed, ", ")
	}
	return s
}

// Is makes errors.Is(err, &Refusal{Code: c}) ask for the code.
func (r *Refusal) Is(target error) bool {
	t, ok := target.(*Refusal)
	return ok && t.Code == r.Code
}
