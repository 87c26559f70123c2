package e2e

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/logcheck"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// logFollower follows the log through outages of its server.
type logFollower struct {
	store *store.Store

	mu        sync.Mutex
	instances map[string]instance.Instance
	history   map[string][]instance.Commit
	err       error
	update    chan struct{} // closed by the next change
}

// followLog follows the log until the test ends.
func followLog(t *testing.T, js jetstream.JetStream) *logFollower {
	t.Helper()
	opening, opened := context.WithTimeout(t.Context(), maxWait)
	defer opened()
	log, err := store.Open(opening, js, store.Config{Watermark: filepath.Join(t.TempDir(), "watermark")})
	if err != nil {
		t.Fatal(err)
	}
	f := &logFollower{store: log, instances: map[string]instance.Instance{}, history: map[string][]instance.Commit{},
		update: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := log.Read(ctx, 1, f.apply, nil)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.err = err
		f.notify()
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		if !errors.Is(f.err, context.Canceled) {
			t.Errorf("the log could no longer be read: %v", f.err)
		}
	})
	return f
}

func (f *logFollower) apply(c eventstore.Commit) error {
	commit, err := wire.ToCommit(c)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	in, known := f.instances[c.Instance]
	if !known {
		in.ID = c.Instance
	}
	f.instances[c.Instance] = instance.Evolve(in, commit)
	f.history[c.Instance] = append(f.history[c.Instance], commit)
	f.notify()
	return nil
}

func (f *logFollower) notify() {
	close(f.update)
	f.update = make(chan struct{})
}

// await waits until holds returns true; what names it in the failure.
func (f *logFollower) await(t *testing.T, what string, holds func(f *logFollower) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	if err := f.waitUntil(ctx, holds); err != nil {
		t.Fatalf("%s: it did not come: %v; the instances are %v", what, err, f.states())
	}
}

// waitUntil returns when holds returns true, or an error when ctx or the log ends.
// holds is called with the lock held: it may read the fields, and call no method
// that locks.
func (f *logFollower) waitUntil(ctx context.Context, holds func(f *logFollower) bool) error {
	for {
		f.mu.Lock()
		ok, ended, more := holds(f), f.err, f.update
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

func (f *logFollower) states() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	states := map[string]string{}
	for id, in := range f.instances {
		states[id] = in.State
		if in.Paused {
			states[id] += " (paused: " + in.Reason + ")"
		}
	}
	return states
}

// get returns the instance as far as the log was read.
func (f *logFollower) get(id string) instance.Instance {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.instances[id]
}

// commitsOf returns the commits of an instance.
func (f *logFollower) commitsOf(id string) []instance.Commit {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.history[id])
}

// commitCount returns the number of commits of an instance.
func (f *logFollower) commitCount(id string) int { return len(f.commitsOf(id)) }

// hasEnded reports whether the instance has ended.
func hasEnded(id string) func(*logFollower) bool {
	return func(f *logFollower) bool { return f.instances[id].Closed != "" }
}

// claimedIn reports whether the instance is in the state and claimed.
func claimedIn(id, state string) func(*logFollower) bool {
	return func(f *logFollower) bool { return f.instances[id].State == state && f.instances[id].Claim != nil }
}

// checkLog reads the log again from its beginning and fails for every violation.
func (f *logFollower) checkLog(t *testing.T) logcheck.Report {
	t.Helper()
	definitions, err := workflow.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
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
