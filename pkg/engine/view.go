package engine

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/pkg/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// view holds every instance in memory as far as the log was followed, ended ones
// in outline: they are listed and hardly ever written to again.
type view struct {
	mu      sync.Mutex
	live    map[string]*entry
	asleep  asleep // what lives, and nobody asked for yet
	ended   map[string]*outline
	endings map[ending]*ending
	work    map[place]map[string]*piece // what is to be done, by instance
	places  map[string]place            // where that of an instance is
	gave    map[uint64]string           // instances by claim, where claims are given what is most urgent
	claims  map[string][]uint64         // those claims by instance
	making  map[string]*making          // what is on its way into the log, by instance
	lines   lines                       // who waits for work
	queued  map[string]spot             // the work of instances that is in a queue
	direct  map[string]bool             // instances whose work is in no queue
	seq     uint64                      // everything up to here is in
	chain   string                      // of that commit
	waiting bool                        // somebody waits for more
	more    chan struct{}

	fresh  map[string]bool    // what ended and is in no snapshot; nil if there are none
	cutAt  uint64             // where the last snapshot was made
	every  uint64             // commits between two
	due    chan struct{}      // it is time for the next
	absent []*pb.SnapshotPart // what ended before the snapshot that it began with
	whole  chan struct{}      // closed when that is in; nil if it is
}

func newView() *view {
	return &view{
		live: map[string]*entry{}, ended: map[string]*outline{}, endings: map[ending]*ending{},
		work: map[place]map[string]*piece{}, places: map[string]place{}, gave: map[uint64]string{}, claims: map[string][]uint64{},
		making: map[string]*making{}, queued: map[string]spot{}, direct: map[string]bool{},
		more: make(chan struct{}), due: make(chan struct{}, 1),
	}
}

// get returns an instance that decisions can be made on.
func (v *view) get(id string) (*entry, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.wake(id)
	n, ok := v.live[id]
	if ok {
		n.own = false
	}
	return n, ok
}

// at returns what there is of an instance; an entry of an ended one cannot be
// decided on. One that is not known is as it was before it was opened.
func (v *view) at(id string) *entry {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.wake(id)
	if n, ok := v.live[id]; ok {
		n.own = false
		return n
	}
	if o, ok := v.ended[id]; ok {
		return &entry{o.instance(id), &record{head: o.head}}
	}
	return none(id)
}

// knows reports whether there is anything of an instance.
func (v *view) knows(id string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.seqOf(id) > 0
}

// seqOf is the newest commit of an instance that is in. The caller holds the view.
func (v *view) seqOf(id string) uint64 {
	v.wake(id)
	if n, ok := v.live[id]; ok {
		return n.in.Seq
	}
	if o, ok := v.ended[id]; ok {
		return o.seq
	}
	return 0
}

// put keeps the newer of two moments. ranks says that its work may have to be
// chosen among other.
func (v *view) put(n *entry, ranks bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if n.in.Seq <= v.seqOf(n.in.ID) {
		return
	}
	v.arrange(n, ranks)
	v.settle(n)
}

// settle has the view know an instance, which may have ended. The caller holds the view.
func (v *view) settle(n *entry) {
	id := n.in.ID // its own text: one of a commit holds on to all of that one's subject
	v.file(n)
	if n.in.Closed == "" {
		v.live[id] = n
		return
	}
	delete(v.live, id)
	v.ended[id] = outlined(&n.in, n.head, v.endings)
	if v.fresh != nil {
		v.fresh[id] = true
	}
}

// give notes what the claim of a command was given.
func (v *view) give(command, id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.gives(wide(command), id)
}

// gives notes a claim once. The caller holds the view.
func (v *view) gives(command uint64, id string) {
	if _, known := v.gave[command]; !known {
		if n, ok := v.live[id]; ok {
			id = n.in.ID
		}
		v.gave[command] = id
		v.claims[id] = append(v.claims[id], command)
	}
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

// reached says that the log was followed up to a commit.
func (v *view) reached(seq uint64, chain string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seq, v.chain = seq, chain
	if v.every > 0 && seq >= v.cutAt+max(v.every, 4*uint64(len(v.live))) {
		select {
		case v.due <- struct{}{}:
		default:
		}
	}
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

// all is every instance as it is now. One that ends meanwhile may be in both.
func (v *view) all() (live []*entry, ended []named) {
	v.mu.Lock()
	defer v.mu.Unlock()
	live, ended = make([]*entry, 0, len(v.live)), make([]named, 0, len(v.ended))
	each(v, v.live, func(_ string, n *entry) { n.own, live = false, append(live, n) })
	each(v, v.ended, func(id string, o *outline) { ended = append(ended, named{id: id, outline: o}) })
	return live, ended
}

// list returns the instances that keep holds for, in order of id.
func (v *view) list(keep func(instance.Instance) bool) []instance.Instance {
	live, ended := v.all()
	var out []instance.Instance
	for _, n := range live {
		if keep(n.in) {
			out = append(out, n.in)
		}
	}
	var in instance.Instance
	visit := make([]instance.Visit, 1)
	for _, o := range ended {
		if o.fill(&in, o.id, visit); keep(in) {
			out = append(out, o.instance(o.id))
		}
	}
	slices.SortFunc(out, func(a, b instance.Instance) int { return cmp.Or(cmp.Compare(a.ID, b.ID), -cmp.Compare(a.Seq, b.Seq)) })
	return slices.CompactFunc(out, func(a, b instance.Instance) bool { return a.ID == b.ID })
}
