package engine

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
)

// entry is one instance at one moment: a value, replaced and never written to.
type entry struct {
	in    instance.Instance
	chain string
	// taken are the hashes of the ids of all its commands: a command may come
	// again long after, when whoever sent it was away before it had the answer.
	taken []uint32
	// rests is until when it is left alone after a fault, by claims that may choose.
	rests time.Time
	// outline says that in lacks what only a decision needs.
	outline bool
}

// fold replays the commits of one instance; of none it is an instance that was
// never opened.
func fold(id string, commits []eventstore.Commit) (entry, error) {
	now := entry{in: instance.Instance{ID: id}}
	var err error
	for _, c := range commits {
		if now, err = now.evolve(c); err != nil {
			return entry{}, err
		}
	}
	return now, nil
}

func (n entry) evolve(c eventstore.Commit) (entry, error) {
	commit, err := wire.ToCommit(c)
	if err != nil {
		return entry{}, err
	}
	return n.with(commit, c.Chain), nil
}

func (n entry) with(c instance.Commit, chain string) entry {
	n.in, n.chain = instance.Evolve(n.in, c), chain
	n.taken = append(slices.Clip(n.taken), hash(c.ID))
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
	return n
}

// took reports whether the command may have been taken: the log knows for sure.
func (n entry) took(id string) bool { return slices.Contains(n.taken, hash(id)) }

func hash(id string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(id))
	return h.Sum32()
}

// sketched is an entry of which a list can still be made, at a fraction of the size.
func (n entry) sketched() entry {
	n.outline, n.taken = true, nil
	n.in.Issue.Body, n.in.Notes, n.in.Evidence, n.in.Last = "", nil, nil, nil
	n.in.Bundles, n.in.Artifacts, n.in.Previous, n.in.Sections = nil, nil, nil, nil
	return n
}
