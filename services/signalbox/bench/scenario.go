package bench

import (
	"context"
	"time"
)

// scenario is one thing to measure. run measures it once, the baseline first, and adds
// samples to the figures.
type scenario struct {
	name  string
	about string
	run   func(ctx context.Context, b *bench) error
}

func scenarios() []scenario {
	return []scenario{
		{"throughput", "steps a second with --in-flight instances under way", throughput},
		{"crowd", "the same with 256, in strict mode", crowd},
		{"handoff", "from the end of a step to the start of the next, one instance alone", handoff},
		{"relay", "both, from one role to another at each step", relay},
		{"history", "both, in a log of --history commits", longHistory},
		{"far", "step --far of one instance against step 8, also right after a restart of the orchestrator", far},
		{"start", "an orchestrator's start: until it answers, and how fast it reads the log", coldStart},
		{"load", "one instance with 10,000 commits", loadInstance},
		{"memory", "memory of an instance in the orchestrator", memory},
		{"kept", "starts, snapshot, memory, lists and takeover of an orchestrator with --kept instances, one of a hundred alive", kept},
		{"kill", "how long the work of a killed agent lies", killAgent},
		{"takeover", "how soon work goes on when the active orchestrator is killed and another stands by", takeover},
		{"accounts", "throughput and handoff with an account for each party, against the same without", accounts},
		{"replicas", "1, 2 and 4 orchestrators", replicas},
	}
}

// mode returns the name of a sync interval.
func mode(sync time.Duration) string {
	switch sync {
	case 0:
		return "strict"
	case serverDefault:
		return "default"
	}
	return "sync " + sync.String()
}

// serverDefault is nats-server's default sync interval.
const serverDefault = 2 * time.Minute
