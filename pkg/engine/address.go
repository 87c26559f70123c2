package engine

import (
	"cmp"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
)

// address says what the subject of a commit names, and whether it wakes anybody:
// the role that is asked a question, people if they are required, else the state
// that the instance, which was in state, is in then. Who was given the work with
// it is awake.
func address(state string, events []instance.Event) (to string, wakes bool) {
	for _, e := range events {
		switch e := e.(type) {
		case instance.Opened:
			state = e.State
		case instance.Moved:
			state = e.To
		case instance.Dispatched:
			wakes = true
			if e.Question > 0 {
				to = subject.To(e.Owner)
			}
		case instance.Claimed:
			wakes = wakes && !e.Direct
		case instance.Escalated:
			if e.RequiresHuman {
				to = subject.People
			}
		}
	}
	return cmp.Or(to, state), wakes
}
