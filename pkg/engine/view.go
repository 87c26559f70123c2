package engine

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/pkg/instance"
)

// view holds every instance in memory as far as the log was followed, closed
// ones in outline: they are listed and hardly ever written to again.
type view struct {
	mu      sync.Mutex
	all     map[string]entry
	work    map[place]map[string]*piece // what is to be done, by instance
	places  map[string]place            // where that of an instance is
	gave    map[uint64]string           // instances by claim, where claims are given what is most urgent
	seq     uint64                      // everything up to here is in
	waiting bool                        // somebody waits for more
	more    chan struct{}
}

func newView() *view {
	return &view{
		all: map[string]entry{}, work: map[place]map[string]*piece{}, places: map[string]place{}, gave: map[uint64]string{},
		more: make(chan struct{}),
	}
}

// get returns an instance that decisions can be made on.
func (v *view) get(id string) (entry, bool) {
	n := v.at(id)
	return n, n.in.Seq > 0 && !n.outline
}

// at returns what there is of an instance.
func (v *view) at(id string) entry {
	v.mu.Lock()
	defer v.mu.Unlock()
	n, ok := v.all[id]
	if !ok {
		n.in.ID = id
	}
	return n
}

// put keeps the newer of two moments.
func (v *view) put(n entry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if n.in.Seq <= v.all[n.in.ID].in.Seq {
		return
	}
	v.arrange(n)
	if n.in.Closed != "" {
		n = n.sketched()
	}
	v.all[n.in.ID] = n
}

// give notes what the claim of a command was given.
func (v *view) give(command, id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.gave[wide(command)] = id
}

func (v *view) given(command string) (id string, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	id, ok = v.gave[wide(command)]
	return id, ok
}

func wide(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

// reached says that the log was followed up to seq.
func (v *view) reached(seq uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seq = seq
	if v.waiting {
		close(v.more)
		v.more, v.waiting = make(chan struct{}), false
	}
}

// wait returns when the log was followed up to seq.
func (v *view) wait(ctx context.Context, seq uint64) error {
	for {
		v.mu.Lock()
		at, more := v.seq, v.more
		v.waiting = v.waiting || at < seq
		v.mu.Unlock()
		if at >= seq {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// list returns the instances that keep holds for, in order of id.
func (v *view) list(keep func(instance.Instance) bool) []instance.Instance {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []instance.Instance
	for _, n := range v.all {
		if keep(n.in) {
			out = append(out, n.in)
		}
	}
	slices.SortFunc(out, func(a, b instance.Instance) int { return cmp.Compare(a.ID, b.ID) })
	return out
}
