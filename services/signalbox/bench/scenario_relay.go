package bench

import "context"

// relay measures throughput and hand-offs where each step belongs to another role than
// the one before. Each role has as many workers.
func relay(ctx context.Context, b *bench) error {
	s := setup{sync: b.Sync[0], workers: b.InFlight, lifecycle: "relay"}
	if err := b.runThroughput(ctx, "relay", s, []string{separate}, atLeast(0.8)); err != nil {
		return err
	}
	s.workers = 1
	return b.runHandoffs(ctx, "relay", s, []string{separate})
}
