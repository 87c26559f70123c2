package instance

import (
	"fmt"
	"strings"
)

// Code says why a command was refused. Codes are wire names.
type Code string

const (
	CodeUnknownInstance Code = "unknown_instance"
	CodeExists          Code = "exists"
	CodeInvalid         Code = "invalid"       // the command itself is malformed
	CodeNotPermitted    Code = "not_permitted" // the table does not have the move
	CodeNotOwner        Code = "not_owner"     // the state belongs to another role
	CodeStale           Code = "stale"         // the work was dispatched for an earlier moment
	CodeHeld            Code = "held"          // another agent's lease lives
	CodeLapsed          Code = "lapsed"        // the claim is not, or no longer, the caller's
	CodePaused          Code = "paused"
	CodeClosed          Code = "closed"
	CodeUndecided       Code = "undecided" // the definition has no answer: a fault in it
	CodeForbidden       Code = "forbidden" // the definition does not let this actor do it
	CodeEarly           Code = "early"     // a timer fired before it was due
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
