package forgeside_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// What an error of the forge makes of the work, after so many faults.
func TestWorkRestsWhereItIsKnownThatTimeHelps(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		faults int
		fault  bool
		rests  time.Duration // 0: nobody knows for how long
	}{
		{"a limit", &forge.RateLimit{Until: time.Now().Add(time.Hour)}, 0, true, time.Hour},
		{"a limit without a time", &forge.RateLimit{}, 0, true, 0},
		{"no answer", fmt.Errorf("x: %w", forge.ErrUnavailable), 0, true, 0},
		{"no answer, the third time", forge.ErrUnavailable, 2, true, 0},
		{"an outage", forge.ErrUnavailable, 3, true, time.Minute},
		{"an outage that goes on", forge.ErrUnavailable, 9, true, time.Minute},
		{"a token that ran out, again and again", forge.ErrDenied, 9, true, 0},
		{"a refusal", forge.ErrInvalid, 9, false, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			if limit := new(forge.RateLimit); errors.As(c.err, &limit) && c.rests > 0 {
				limit.Until = time.Now().Add(c.rests)
			}
			job := agent.Job{Faults: c.faults}
			_, err := forgeside.Gate{}.Work(t.Context(), job, func(context.Context, agent.Job) (instance.Result, error) {
				return instance.Result{}, c.err
			})
			later := new(brain.LaterError)
			known := errors.As(err, &later)
			if errors.Is(err, brain.ErrInfrastructure) != c.fault || known != (c.rests > 0) || known && time.Until(later.Until) != c.rests {
				t.Errorf("%s: %v", c.name, err)
			}
		})
	}
}
