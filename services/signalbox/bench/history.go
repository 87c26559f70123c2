package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/services/signalbox/bench/historyfill"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// chapter is a part of a history: so many instances of a kind.
type chapter struct {
	prefix    string
	instances int
	historyfill.Kind
}

// each is how many commits an instance of a history has.
const each = 10

// long is a history of so many commits: nine of ten instances have ended.
func long(commits int) []chapter { return longWith(commits, alive(commits)) }

// alive is a tenth of its instances.
func alive(commits int) int { return max(commits/each/10, 1) }

// longWith is a history of so many commits, in which so many instances have not ended.
func longWith(commits, live int) []chapter {
	all := max(commits/each, live)
	return []chapter{
		{"over", all - live, historyfill.Kind{Commits: each, Over: true}},
		{"live", live, historyfill.Kind{Commits: each}},
	}
}

// history returns the directory of a store that has these chapters, written once
// a run. The servers of a measurement work on copies.
func (b *bench) history(ctx context.Context, chapters ...chapter) (dir string, err error) {
	key := fmt.Sprint(chapters)
	if dir, ok := b.histories[key]; ok {
		return dir, nil
	}
	fmt.Fprintf(b.env.Stderr, "  writing a history of %v\n", chapters)
	if dir, err = b.storeDir(""); err != nil {
		return "", err
	}
	lifecycle, err := lifecycles.ReadFile("lifecycle/past.yaml")
	if err != nil {
		return "", err
	}
	server, err := process.Start("nats-server")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	filler, err := process.Start("filler")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, filler.Close()) }()
	var url string
	if err := server.Call(ctx, "Server.Start", process.ServerArgs{Dir: dir, Sync: serverDefault}, &url); err != nil {
		return "", err
	}
	want := uint64(0)
	for _, c := range chapters {
		a := process.FillArgs{URL: url, Lifecycle: lifecycle, Prefix: c.prefix, Instances: c.instances, Kind: c.Kind}
		if err := filler.Call(ctx, "Log.Fill", a, &process.None{}); err != nil {
			return "", err
		}
		want += uint64(c.instances * c.Commits)
	}
	var size process.Size
	if err := filler.Call(ctx, "Log.Size", url, &size); err != nil {
		return "", err
	}
	if size.Messages != want {
		return "", fmt.Errorf("the log has %d commits, want %d", size.Messages, want)
	}
	b.histories[key] = dir
	return dir, nil
}
