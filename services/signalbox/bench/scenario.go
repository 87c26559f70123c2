package bench

import (
	"context"
	"time"
)

// scenario is one thing to measure. once measures it, the floor first, and adds
// what it found to the figures.
type scenario struct {
	name  string
	about string
	once  func(ctx context.Context, b *bench) error
}

func scenarios() []scenario {
	return []scenario{
		{"throughput", "steps a second with --in-flight instances under way", throughput},
		{"crowd", "the same with 256, in strict mode", crowd},
		{"handoff", "from the end of a step to the start of the next, one instance alone", handoff},
	}
}

// mode is what a sync interval is called.
func mode(sync time.Duration) string {
	switch sync {
	case 0:
		return "strict"
	case serverDefault:
		return "default"
	}
	return "sync " + sync.String()
}

// serverDefault is how often nats-server flushes if it is not told.
const serverDefault = 2 * time.Minute
