package engine

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// keyedMutex is a mutex for each key. Goroutines get it in the order of
// arrival. The zero keyedMutex is ready.
type keyedMutex struct {
	mu   sync.Mutex
	keys map[string]*keyMutex // of keys that are locked or waited for
}

type keyMutex struct {
	*semaphore.Weighted
	users int // that have it or wait for it
}

// Lock locks a key, or returns the error of ctx.
func (k *keyedMutex) Lock(ctx context.Context, key string) error {
	k.mu.Lock()
	m := k.keys[key]
	if m == nil {
		if k.keys == nil {
			k.keys = map[string]*keyMutex{}
		}
		m = &keyMutex{Weighted: semaphore.NewWeighted(1)}
		k.keys[key] = m
	}
	m.users++
	k.mu.Unlock()
	err := m.Acquire(ctx, 1)
	if err != nil {
		k.leave(key)
	}
	return err
}

// Unlock unlocks a key that Lock locked.
func (k *keyedMutex) Unlock(key string) { k.leave(key).Release(1) }

// leave counts one user less, and forgets a key that has none.
func (k *keyedMutex) leave(key string) *keyMutex {
	k.mu.Lock()
	defer k.mu.Unlock()
	m := k.keys[key]
	if m.users--; m.users == 0 {
		delete(k.keys, key)
	}
	return m
}

// sharedLock is locked by many together (RLock) or by one alone (Lock), in the order of
// arrival: what comes later waits behind a Lock.
type sharedLock struct{ sem *semaphore.Weighted }

func newSharedLock() sharedLock { return sharedLock{semaphore.NewWeighted(math.MaxInt64)} }

func (l sharedLock) RLock(ctx context.Context) error { return l.sem.Acquire(ctx, 1) }
func (l sharedLock) RUnlock()                        { l.sem.Release(1) }
func (l sharedLock) Lock(ctx context.Context) error  { return l.sem.Acquire(ctx, math.MaxInt64) }
func (l sharedLock) Unlock()                         { l.sem.Release(math.MaxInt64) }

// workflowLock is locked by the commits of one workflow together, but by a claim of the
// most urgent work alone. So what that chose from has not changed when it is in the log.
type workflowLock struct {
	sharedLock
	stale atomic.Bool // a commit may be in the log that the projection does not have
}

// workflows are the locks by workflow. The zero workflows is ready.
type workflows struct {
	mu  sync.Mutex
	all map[string]*workflowLock
}

// of returns the lock of a workflow.
func (w *workflows) of(name string) *workflowLock {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[string]*workflowLock{}
	}
	if w.all[name] == nil {
		w.all[name] = &workflowLock{sharedLock: newSharedLock()}
	}
	return w.all[name]
}
