package jetstream

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
)

// localReaders are the readers that take the store's own commits from it, not
// from the server. The zero value is ready. It is safe for concurrent use.
type localReaders struct {
	mu  sync.Mutex
	all map[*localCommits]struct{}
}

// localCommits are the commits that the store has appended and one reader has not
// read yet. It is safe for concurrent use.
type localCommits struct {
	mu      sync.Mutex
	commits map[uint64]eventstore.Commit // by sequence
	next    uint64                       // sequence to read next
	head    uint64                       // newest sequence that is known
	changed chan struct{}                // gets a value when there may be more to read
}

// maxLocalCommits bounds the commits that wait for a reader: a slower one reads
// the log.
const maxLocalCommits = 10_000

// add returns the commits of a new reader, which ends with remove.
func (r *localReaders) add() *localCommits {
	l := &localCommits{commits: map[uint64]eventstore.Commit{}, changed: make(chan struct{}, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[*localCommits]struct{}{}
	}
	r.all[l] = struct{}{}
	return l
}

func (r *localReaders) remove(l *localCommits) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, l)
}

// appended passes a commit of the store to all readers.
func (r *localReaders) appended(c eventstore.Commit) {
	r.each(func(l *localCommits) { l.appended(c) })
}

// setHead sets the highest sequence of the log in all readers.
func (r *localReaders) setHead(head uint64) {
	r.each(func(l *localCommits) { l.setHead(head) })
}

func (r *localReaders) each(do func(*localCommits)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.all {
		do(l)
		select {
		case l.changed <- struct{}{}:
		default:
		}
	}
}

func (l *localCommits) appended(c eventstore.Commit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.commits) == maxLocalCommits {
		clear(l.commits)
	}
	if l.head = max(l.head, c.Seq); c.Seq >= l.next {
		l.commits[c.Seq] = c
	}
}

func (l *localCommits) setHead(head uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.head = max(l.head, head)
}

// pop returns the commit to read next, if the store has appended it. foreign
// reports that the log has a commit there which the store has not.
func (l *localCommits) pop() (c eventstore.Commit, ok, foreign bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c, ok = l.commits[l.next]; ok {
		delete(l.commits, l.next)
		l.next++
	}
	return c, ok, !ok && l.head >= l.next
}

// resumeAt sets the sequence to read next.
func (l *localCommits) resumeAt(next uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = next
	maps.DeleteFunc(l.commits, func(seq uint64, _ eventstore.Commit) bool { return seq < next })
}

const (
	checkHeadEvery = 200 * time.Millisecond // how often the log is checked for commits of others
	maxAckReorder  = 20 * time.Millisecond  // how long after the next one's an acknowledgement may come
)

// followLocal reads what the store itself appends. It returns errLost when the log
// has a commit that the store has not appended: then the log is read. Every
// checkHeadEvery it checks whether there is one, and that it still is the same log.
func (r *reader) followLocal(ctx context.Context) error {
	tick := time.NewTicker(checkHeadEvery)
	defer tick.Stop()
	connected := r.store.js.Conn().Stats().Reconnects
	var missing uint64
	var overdue <-chan time.Time // fires maxAckReorder after missing was noticed
	for {
		c, ok, foreign := r.local.pop()
		if ok {
			if err := r.take(c); err != nil {
				return err
			}
			continue
		}
		if foreign && missing != r.next {
			missing, overdue = r.next, time.After(maxAckReorder)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.local.changed:
		case <-overdue:
			if overdue = nil; missing == r.next {
				return fmt.Errorf("%w: this process did not append %d", errLost, missing)
			}
		case <-tick.C:
			if r.store.js.Conn().Stats().Reconnects != connected {
				return fmt.Errorf("%w: the connection was", errLost)
			}
			last, err := r.store.checkLog(ctx, r.next-1)
			if err != nil {
				return r.lost(ctx, err)
			}
			r.store.readers.setHead(last)
		}
	}
}

// checkLast checks that the commit that was read last is still there: a log that
// was cut short may have grown again since.
func (r *reader) checkLast(ctx context.Context) error {
	if r.last.Seq == 0 {
		return nil
	}
	there, err := once(ctx, r.store.config.Timeout, func(ctx context.Context) (eventstore.Commit, error) {
		return r.store.get(ctx, r.last.Seq)
	})
	if err == nil && there.Chain != r.last.Chain {
		err = fmt.Errorf("%w: commit %d is not the one that was read: %s of %q, want %s of %q",
			eventstore.ErrCorrupt, there.Seq, there.ID, there.Instance, r.last.ID, r.last.Instance)
	}
	return err
}
