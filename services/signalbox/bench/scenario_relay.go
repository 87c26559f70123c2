package bench

import "context"

// relay measures throughput and hand-offs where each step is another role's than
// the one before, whose agents are as many again.
func relay(ctx context.Context, b *bench) error {
	sync := b.Sync[0]
	p := plan{server: separate, sync: sync, workers: b.InFlight, lifecycle: "relay"}
	s := Setting{mode(sync), separate, b.InFlight}
	base, err := b.floorSteps(ctx, sync, b.InFlight)
	if err != nil {
		return err
	}
	got, err := b.engineSteps(ctx, p, b.InFlight)
	if err != nil {
		return err
	}
	b.poured("relay", s, got, base, atLeast(0.6))
	alone, _, _, err := b.raw(ctx, sync, 10, b.watched(sync))
	if err != nil {
		return err
	}
	p.workers, s.InFlight = 1, 1
	gaps, u, err := b.handoffs(ctx, p)
	if err == nil {
		b.handed("relay", s, gaps, alone.Gaps, u, "floor", atMost(2), atMost(2.5))
	}
	return err
}
