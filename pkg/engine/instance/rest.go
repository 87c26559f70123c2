package instance

import (
	"fmt"
	"strings"
	"time"
)

// Rest is why nobody gets the work before a time: a fault whose end is known, such as a
// limit of the forge. The zero Rest is none.
type Rest struct {
	Until  time.Time `json:"until"`
	Reason string    `json:"reason"`
}

// With returns the rest after more events.
func (r Rest) With(events []Event) Rest {
	for _, e := range events {
		switch e := e.(type) {
		case Released:
			if r = (Rest{}); !e.Until.IsZero() {
				r = Rest{e.Until, e.Reason}
			}
		case Claimed, Dispatched, Moved:
			r = Rest{}
		}
	}
	return r
}

// Sentence says for people that a role rests; when is until when it does.
func (r Rest) Sentence(role, when string) string {
	return fmt.Sprintf("%s gave the work back because of the machinery: %s. It rests %s; then it goes on by itself.", role, ended(r.Reason), when)
}

// Sentence says for people why nobody is given the work that Hold has parked.
func (p Parked) Sentence() string {
	ends := "when other work there is done"
	if p.WaitsFor == ForBudget {
		ends = "at " + p.Until.UTC().Format("2006-01-02 15:04 UTC")
	}
	return fmt.Sprintf("Nobody is given the work: %s. It goes on by itself %s.", ended(p.Reason), ends)
}

// ended is a text without its full stop.
func ended(text string) string { return strings.TrimRight(text, ". \n") }
