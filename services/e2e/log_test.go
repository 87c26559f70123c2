package e2e

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/eventstore"
	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/logcheck"
	"github.com/signalbox/signalbox/pkg/wire"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// follower follows the log, through whatever happens to its server.
type follower struct {
	store *store.Store

	mu    sync.Mutex
	all   map[string]instance.Instance
	log   map[string][]instance.Commit
	ended error
	more  chan struct{} // closed by the next change
}

// follow follows the log until the test ends.
func follow(t *testing.T, js jetstream.JetStream) *follower {
	t.Helper()
	opening, opened := context.WithTimeout(t.Context(), patience)
	defer opened()
	log, err := store.Open(opening, js, store.Config{Watermark: filepath.Join(t.TempDir(), "watermark")})
	if err != nil {
		t.Fatal(err)
	}
	f := &follower{store: log, all: map[string]instance.Instance{}, log: map[string][]instance.Commit{}, more: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := log.Read(ctx, 1, f.take, nil)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.ended = err
		f.changed()
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		if !errors.Is(f.ended, context.Canceled) {
			t.Errorf("the log could no longer be read: %v", f.ended)
		}
	})
	return f
}

func (f *follower) take(c eventstore.Commit) error {
	commit, err := wire.ToCommit(c)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	in, known := f.all[c.Instance]
	if !known {
		in.ID = c.Instance
	}
	f.all[c.Instance] = instance.Evolve(in, commit)
	f.log[c.Instance] = append(f.log[c.Instance], commit)
	f.changed()
	return nil
}

func (f *follower) changed() {
	close(f.more)
	f.more = make(chan struct{})
}

// until waits for what in the log.
func (f *follower) until(t *testing.T, what string, holds func(f *follower) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := f.wait(ctx, holds); err != nil {
		t.Fatalf("%s: it did not come: %v; the instances are %v", what, err, f.states())
	}
}

// wait returns when holds does, which is called with the follower locked, or
// with an error when ctx or the log ends.
func (f *follower) wait(ctx context.Context, holds func(f *follower) bool) error {
	for {
		f.mu.Lock()
		ok, ended, more := holds(f), f.ended, f.more
		f.mu.Unlock()
		switch {
		case ok:
			return nil
		case ended != nil:
			return ended
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *follower) states() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	states := map[string]string{}
	for id, in := range f.all {
		states[id] = in.State
		if in.Paused {
			states[id] += " (paused: " + in.Reason + ")"
		}
	}
	return states
}

// get returns the instance as far as it was read.
func (f *follower) get(id string) instance.Instance {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all[id]
}

// of returns all commits of an instance.
func (f *follower) of(id string) []instance.Commit {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log[id])
}

// commits counts an instance's.
func (f *follower) commits(id string) int { return len(f.of(id)) }

// closed says that the instance has ended.
func closed(id string) func(*follower) bool {
	return func(f *follower) bool { return f.all[id].Closed != "" }
}

// in says that somebody works on the instance in the state.
func in(id, state string) func(*follower) bool {
	return func(f *follower) bool { return f.all[id].State == state && f.all[id].Claim != nil }
}

// sound reads the log once more from its beginning, and fails for everything
// in it that must not be.
func (f *follower) sound(t *testing.T) logcheck.Report {
	t.Helper()
	definitions, err := workflow.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := logcheck.Check(ctx, f.store, workflow.NewCatalog(definitions...).Hashed)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Violations {
		t.Error(v)
	}
	return r
}
