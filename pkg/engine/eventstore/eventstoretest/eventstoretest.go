// Package eventstoretest is what every eventstore.Store must pass.
package eventstoretest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

// patience bounds a test that waits for something that never comes.
const patience = time.Minute

// Run checks that the stores open returns, each new and empty, keep the
// promises of the port.
func Run(t *testing.T, open func(*testing.T) eventstore.Store) {
	t.Run("Append", func(t *testing.T) { runAppend(t, open) })
	t.Run("Load", func(t *testing.T) { runLoad(t, open) })
	t.Run("Read", func(t *testing.T) { runRead(t, open) })
}

// Next returns a sound commit of an instance after prev; the zero prev opens
// it. Its ID is id, its Data names it.
func Next(instance, id string, prev eventstore.Commit) eventstore.Commit {
	return Chained(prev, eventstore.Commit{
		ID: id, Workflow: "issue", State: "received", Instance: instance, Wakes: true,
		Time: time.Date(2026, 1, 2, 3, 4, 5, 123456789, time.UTC), Data: []byte("data of " + id),
	})
}

// Chained returns c as the commit after prev.
func Chained(prev, c eventstore.Commit) eventstore.Commit {
	c.Prev = prev.Seq
	c.Chain = eventstore.NextChain(prev.Chain, c)
	return c
}

// Grow appends n sound commits to an instance after prev and returns them as
// the store must give them back.
func Grow(t testing.TB, s eventstore.Store, instance string, n int, prev eventstore.Commit) []eventstore.Commit {
	t.Helper()
	commits := make([]eventstore.Commit, n)
	for i := range commits {
		c := Next(instance, instance+"-"+strconv.FormatUint(prev.Seq, 10), prev)
		c.ID = "id-" + strconv.Itoa(i) + "-after-" + strconv.FormatUint(prev.Seq, 10) + "-" + c.Chain[:16]
		prev = Put(t, s, Chained(prev, c))
		commits[i] = prev
	}
	return commits
}

// Put appends c, which must succeed, and returns it with its sequence.
func Put(t testing.TB, s eventstore.Store, c eventstore.Commit) eventstore.Commit {
	t.Helper()
	seq, err := s.Append(within(t), c)
	if err != nil {
		t.Fatalf("append %s to %q after %d: %v", c.ID, c.Instance, c.Prev, err)
	}
	c.Seq = seq
	return c
}

func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}
