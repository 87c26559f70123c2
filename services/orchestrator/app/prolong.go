package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// prolong extends the leases that ended while no orchestrator ran. After a short absence it
// does nothing: agents extend their leases every third of one.
func (o orchestrator) prolong(ctx context.Context, log *slog.Logger, e *engine.Engine) error {
	if o.lease() == 0 {
		return nil
	}
	stream, err := o.js.Stream(ctx, subject.EventStream)
	if err != nil {
		return err
	}
	info := stream.CachedInfo()
	if info.State.Msgs == 0 || info.TimeStamp.Sub(info.State.LastTime) < o.AckWait/2 {
		return nil
	}
	n, err := e.Prolong(ctx, info.State.LastTime, o.AckWait)
	if n > 0 {
		log.Info("leases prolonged: no orchestrator ran when they ended", "leases", n, "until_in", o.AckWait)
	}
	return err
}

// lease is that of claims, or 0 if none is prolonged.
func (o orchestrator) lease() time.Duration {
	if o.AgentsEnd {
		return 0
	}
	return o.AckWait
}
