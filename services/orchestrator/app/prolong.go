package app

import (
	"context"
	"log/slog"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// prolong extends the leases that ended while no orchestrator ran. After a short absence it
// does nothing: agents extend their leases every third of one.
func (o orchestrator) prolong(ctx context.Context, log *slog.Logger, e *engine.Engine) error {
	if o.AgentsEnd {
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
