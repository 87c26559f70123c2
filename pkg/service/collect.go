package service

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// headroom is how much may be allocated between two collections at least.
const headroom = 64 << 20

// CollectLess has the garbage collector run less often, until ctx ends, while
// there is little to keep: its own rule, to collect whenever the heap has
// doubled, has a process of a few megabytes collect all the time. Of 64 MiB and
// more the rule is as it was. GOGC, if set, stands, and GOMEMLIMIT holds anyway.
func CollectLess(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	live, was := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}, 100
	var adjust func(struct{})
	adjust = func(struct{}) {
		metrics.Read(live)
		now := percent(live[0].Value.Uint64())
		if ctx.Err() != nil {
			now = 100
		}
		if now*10 < was*9 || now*10 > was*11 { // each change stops the world
			was = now
			debug.SetGCPercent(now)
		}
		if ctx.Err() == nil {
			runtime.AddCleanup(new(*byte), adjust, struct{}{}) // after the next collection
		}
	}
	adjust(struct{}{})
}

// percent is how much the heap may grow, in percent of what is live, before it is
// collected.
func percent(live uint64) int {
	const least, most = 100, 1600 // 4 MiB is the least the runtime reckons with
	if live == 0 {
		return most
	}
	return int(min(max(headroom*100/live, least), most))
}
