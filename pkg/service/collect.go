package service

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// headroom is the least number of bytes allocated between two collections.
const headroom = 64 << 20

// CollectLess lets the garbage collector run less often while the heap is small,
// until ctx ends. By default it runs whenever the heap has doubled, which for a few
// megabytes is all the time. From 64 MiB on the default holds. If GOGC is set,
// CollectLess does nothing. GOMEMLIMIT holds in any case.
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

// percent returns the growth of the heap between collections, in percent of its live
// bytes.
func percent(live uint64) int {
	const least, most = 100, 1600 // the runtime's own minimum is 4 MiB
	if live == 0 {
		return most
	}
	return int(min(max(headroom*100/live, least), most))
}
