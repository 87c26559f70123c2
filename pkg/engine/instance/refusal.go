package instance

import (
	"fmt"
	"strings"
)

// Code is the reason of a refusal. Codes are wire names.
type Code string

const (
	CodeUnknownInstance Code = "unknown_instance"
	CodeExists          Code = "exists"
	CodeInvalid         Code = "invalid"       // the command itself is malformed
	CodeNotPermitted    Code = "not_permitted" // the table does not have the move
	CodeNotOwner        Code = "not_owner"     // the state belongs to another role
	CodeStale           Code = "stale"         // the command refers to an earlier dispatch, stay or deadline
	CodeHeld            Code = "held"          // a claim is live
	CodeLapsed          Code = "lapsed"        // the caller does not hold the live claim
	CodePaused          Code = "paused"
	CodeClosed          Code = "closed"
	CodeUndecided       Code = "undecided" // the definition has no rule for it: a fault of the definition
	CodeForbidden       Code = "forbidden" // the definition does not let this actor do it
	CodeEarly           Code = "early"     // a timer fired before it was due
)

// Refusal is the error of a command that was refused. Nothing was recorded.
type Refusal struct {
	Code     Code
	Instance string
	What     string   // what was refused and why
	Allowed  []string // what would be permitted, if anything
}

// Error implements error.
func (r *Refusal) Error() string {
	s := fmt.Sprintf("%s: %s", r.Instance, r.What)
	if len(r.Allowed) > 0 {
		s += "; permitted: " + strings.Join(r.Allowed, ", ")
	}
	return s
}

// Is implements errors.Is: refusals are equal if their codes are.
func (r *Refusal) Is(target error) bool {
	t, ok := target.(*Refusal)
	return ok && t.Code == r.Code
}
