package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
)

// The limits of what the forge is asked to deliver again.
const (
	missedFor = 3 * 24 * time.Hour // the forge delivers nothing older again
	maxListed = 500                // attempts that are looked at in one round
	maxMissed = 50                 // deliveries that are asked for in one round
	between   = time.Second        // two requests, as GitHub asks of whoever writes
)

// redeliverer is what the forge has delivered, and delivers again.
type redeliverer interface {
	Deliveries(ctx context.Context, since time.Time, most int) ([]github.HookDelivery, error)
	Redeliver(ctx context.Context, attempt int64) error
}

// missed has the forge deliver again what did not arrive, each delivery once.
type missed struct {
	forge   redeliverer
	between time.Duration
	now     func() time.Time
	asked   map[string]time.Time // deliveries that were asked for, by GUID
	log     *slog.Logger
}

func (m *missed) about() (string, *slog.Logger) { return "webhook", m.log }

// poll asks for the deliveries with no attempt that arrived, or that repeated another. A repeated one was asked for before, here or on another machine.
func (m *missed) poll(ctx context.Context) error {
	since := m.now().Add(-missedFor)
	for guid, at := range m.asked {
		if at.Before(since) {
			delete(m.asked, guid)
		}
	}
	attempts, err := m.forge.Deliveries(ctx, since, maxListed)
	if err != nil {
		return err
	}
	settled := map[string]bool{}
	for _, a := range attempts {
		settled[a.GUID] = settled[a.GUID] || a.Arrived() || a.Redelivery || !m.asked[a.GUID].IsZero()
	}
	again := 0
	for _, a := range attempts {
		if settled[a.GUID] {
			continue
		}
		if again == maxMissed {
			m.log.Warn("more deliveries are missing than are asked for at a time; the rest is asked for the next time", "most", maxMissed)
			return nil
		}
		if again > 0 {
			if err := pacing.Pause(ctx, m.between); err != nil {
				return err
			}
		}
		again++
		settled[a.GUID], m.asked[a.GUID] = true, m.now()
		err := m.forge.Redeliver(ctx, a.ID)
		switch {
		case err == nil:
			m.log.Info("a delivery did not arrive, the forge delivers it again", "delivery", a.GUID, "event", a.Event, "status", a.StatusCode)
		case errors.Is(err, forge.ErrNotFound), errors.Is(err, forge.ErrInvalid):
			m.log.Warn("a delivery did not arrive, and the forge does not deliver it again", "delivery", a.GUID, "error", err)
		default:
			delete(m.asked, a.GUID)
			return err
		}
	}
	return nil
}
