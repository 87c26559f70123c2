package forge

import (
	"fmt"
	"time"
)

// RateLimit is an ErrRateLimited that knows when it is over. Waiting for that
// is the caller's: nothing below it sleeps that long.
type RateLimit struct {
	Until   time.Time // zero when the forge does not say
	Message string    // the forge's own words
}

func (e *RateLimit) Error() string {
	until := "an unknown time"
	if !e.Until.IsZero() {
		until = e.Until.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%v until %s: %s", ErrRateLimited, until, e.Message)
}

// Unwrap is ErrRateLimited.
func (e *RateLimit) Unwrap() error { return ErrRateLimited }
