package eventstoretest

import (
	"context"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

// Tail is a Read that runs in the background.
type Tail struct {
	commits chan eventstore.Commit
	caught  chan int // how many commits had been read, each time
	cancel  context.CancelFunc
	done    chan struct{}
	err     error // why the Read ended, once done is closed
}

// Follow starts a Tail of s. It ends with the test.
func Follow(t testing.TB, s eventstore.Store, from uint64) *Tail {
	ctx, cancel := context.WithCancel(t.Context())
	tail := &Tail{
		commits: make(chan eventstore.Commit), caught: make(chan int, 9), cancel: cancel, done: make(chan struct{}),
	}
	read := 0
	go func() {
		defer close(tail.done)
		tail.err = s.Read(ctx, from, func(c eventstore.Commit) error {
			read++
			select {
			case tail.commits <- c:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}, func() { tail.caught <- read })
	}()
	t.Cleanup(func() {
		cancel()
		<-tail.done
	})
	return tail
}

// Next returns the next commit.
func (tail *Tail) Next(t testing.TB) eventstore.Commit {
	t.Helper()
	select {
	case c := <-tail.commits:
		return c
	case <-tail.done:
		t.Fatalf("Read ended: %v", tail.err)
	case <-within(t).Done():
		t.Fatal("no commit came")
	}
	return eventstore.Commit{}
}

// CaughtUp waits until the Read has caught up and returns how many commits it
// had read by then.
func (tail *Tail) CaughtUp(t testing.TB) int {
	t.Helper()
	select {
	case read := <-tail.caught:
		return read
	case <-tail.done:
		t.Fatalf("Read ended: %v", tail.err)
	case <-within(t).Done():
		t.Fatal("Read does not catch up")
	}
	return 0
}

// End waits for the Read to end and returns its error.
func (tail *Tail) End(t testing.TB) error {
	t.Helper()
	select {
	case <-tail.done:
		return tail.err
	case <-within(t).Done():
		t.Fatal("Read does not end")
	}
	return nil
}

// Stop ends the Read and returns its error.
func (tail *Tail) Stop(t testing.TB) error {
	t.Helper()
	tail.cancel()
	return tail.End(t)
}

// Drain reads s from sequence from until the Read ends by itself and returns
// its error.
func Drain(t testing.TB, s eventstore.Store, from uint64) error {
	t.Helper()
	return s.Read(within(t), from, func(eventstore.Commit) error { return nil }, nil)
}
