package engine

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/series"
	"github.com/signalbox/signalbox/pkg/wire"
)

// entry is one instance at one moment, and is not written to: the next moment is
// another entry, which shares the past with this one. Only the view makes an
// exception, of one that it never gave to anybody.
type entry struct {
	in instance.Instance
	*record
}

// record is what the log has of an instance beside what it is.
type record struct {
	head digest // of its newest commit
	// taken are all its commands: one may come again long after, when whoever sent
	// it was away before it had the answer.
	taken series.Of[taken]
	// rests is until when it is left alone after a fault, by claims that may choose.
	rests time.Time
	// own says that nobody but the view has it.
	own bool
}

// taken is a command that was carried out: the hash of its id, and the sequence
// of its commit but for the upper half.
type taken struct{ id, seq uint32 }

// none is an instance that was never opened. Its id, which is kept for as long as
// the instance is known, is a copy: a commit's is a piece of its subject.
func none(id string) *entry { return &entry{instance.Instance{ID: strings.Clone(id)}, &record{}} }

// follow is the entry after the commits that come next in its instance's log.
func (n *entry) follow(commits ...eventstore.Commit) (*entry, error) {
	for _, c := range commits {
		commit, err := next(c, n.in.Seq, n.head)
		if err != nil {
			return nil, err
		}
		n = n.with(commit, c.Chain)
	}
	return n, nil
}

// next decodes the commit that comes after the one at seq.
func next(c eventstore.Commit, seq uint64, head digest) (instance.Commit, error) {
	if c.Prev != seq || c.Chain != eventstore.NextChain(head.chain(), c) {
		return instance.Commit{}, fmt.Errorf("%w: commit %d of %q does not follow %d", eventstore.ErrCorrupt, c.Seq, c.Instance, seq)
	}
	return wire.ToCommit(c)
}

func (n *entry) with(c instance.Commit, chain string) *entry {
	next := &entry{n.in, &record{rests: n.rests, taken: n.taken}}
	next.grow(c, chain)
	return next
}

// grow makes of n the next moment.
func (n *entry) grow(c instance.Commit, chain string) {
	n.in.Evolve(c)
	n.head, n.taken = digestOf(chain), n.taken.And(taken{hash(c.ID), uint32(c.Seq)})
	for _, e := range c.Events {
		switch e := e.(type) {
		case instance.Released:
			if e.Fault {
				n.rests = c.At.Add(rest(n.in.Faults))
			}
		case instance.Dispatched:
			n.rests = time.Time{}
		}
	}
}

// took reports whether the command may have been taken: the log knows for sure.
func (n *entry) took(id string) bool {
	h := hash(id)
	for some := range n.taken.Blocks() {
		for _, t := range some {
			if t.id == h {
				return true
			}
		}
	}
	return false
}

// before is the sequence of the commit before the first that the command may
// have made; ok is false if it made none.
func (n *entry) before(id string) (seq uint64, ok bool) {
	h, last := hash(id), uint64(0)
	for some := range n.taken.Blocks() {
		for _, t := range some {
			if t.id == h {
				return last, true
			}
			last = whole(t.seq, n.in.Seq)
		}
	}
	return 0, false
}

// whole is the sequence of which seq is the lower half, and which is at most
// newest. Of a past that is longer than four billion commits it may be wrong:
// then the log has no such commit of the instance.
func whole(seq uint32, newest uint64) uint64 {
	at := newest&^(1<<32-1) | uint64(seq)
	if at > newest {
		at -= 1 << 32
	}
	return at
}

func hash(id string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(id))
	return h.Sum32()
}
