package instance

import "fmt"

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
