package bench

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/services/signalbox/bench/historyfill"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// chapter is a part of a history: a number of instances of one kind.
type chapter struct {
	prefix    string
	instances int
	historyfill.Kind
}

// commitsEach is the number of commits of an instance of a history.
const commitsEach = 10

// long returns a history with a number of commits. Nine of ten instances have ended.
func long(commits int) []chapter { return withLive(commits, liveOf(commits)) }

// liveOf returns a tenth of the instances of a history.
func liveOf(commits int) int { return max(commits/commitsEach/10, 1) }

// withLive returns a history with a number of commits and of live instances.
func withLive(commits, live int) []chapter {
	all := max(commits/commitsEach, live)
	return []chapter{
		{"over", all - live, historyfill.Kind{Commits: commitsEach, Ended: true}},
		{"live", live, historyfill.Kind{Commits: commitsEach}},
	}
}

// history returns the directory of a store with these chapters. It writes each history
// once a run. The servers of the measurements work on copies.
func (b *bench) history(ctx context.Context, chapters ...chapter) (string, error) {
	key := fmt.Sprint(chapters)
	if dir, ok := b.histories[key]; ok {
		return dir, nil
	}
	fmt.Fprintf(b.env.Stderr, "  writing a history of %v\n", chapters)
	dir, err := b.storeDir("")
	if err != nil {
		return "", err
	}
	lifecycle, err := lifecycles.ReadFile("lifecycle/history.yaml")
	if err != nil {
		return "", err
	}
	err = withProcess("nats-server", func(server *process.Child) error {
		return withProcess("filler", func(filler *process.Child) error {
			var url string
			if err := server.Call(ctx, "Server.Start", process.ServerArgs{Dir: dir, Sync: serverDefault}, &url); err != nil {
				return err
			}
			want := uint64(0)
			for _, c := range chapters {
				a := process.FillArgs{URL: url, Lifecycle: lifecycle, Prefix: c.prefix, Instances: c.instances, Kind: c.Kind}
				if err := filler.Call(ctx, "Log.Fill", a, &process.None{}); err != nil {
					return err
				}
				want += uint64(c.instances * c.Commits)
			}
			var size process.Size
			err := filler.Call(ctx, "Log.Size", url, &size)
			if err == nil && size.Messages != want {
				err = fmt.Errorf("the log has %d commits, want %d", size.Messages, want)
			}
			return err
		})
	})
	if err == nil {
		b.histories[key] = dir
	}
	return dir, err
}
