package wire

import (
	"sync"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Names are the names of states, roles and lifecycles that were decoded: all
// instances share one copy of each. The zero Names is ready, and safe for
// concurrent use.
type Names struct {
	mu  sync.RWMutex
	all map[string]string
}

const (
	maxName  = 128     // how long a text may be that is still a name, in bytes
	maxNames = 1 << 14 // how many are shared: those of agents may be ever new ones
)

// Of returns the one copy of a name.
func (n *Names) Of(name string) string {
	n.mu.RLock()
	one, ok := n.all[name]
	n.mu.RUnlock()
	if ok {
		return one
	}
	return n.add(name)
}

func (n *Names) of(name []byte) string {
	n.mu.RLock()
	one, ok := n.all[string(name)]
	n.mu.RUnlock()
	if ok {
		return one
	}
	return n.add(string(name))
}

func (n *Names) add(name string) string {
	if len(name) > maxName {
		return name
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if one, ok := n.all[name]; ok {
		return one
	}
	if n.all == nil {
		n.all = map[string]string{}
	}
	if len(n.all) < maxNames {
		n.all[name] = name
	}
	return name
}

// ToCommit is ToCommit with the names shared.
func (n *Names) ToCommit(c eventstore.Commit) (instance.Commit, error) {
	q := quick{names: n}
	if actor, events, ok := q.commit(c.Data); ok {
		return instance.Commit{Seq: c.Seq, ID: c.ID, At: c.Time, Actor: actor, Events: events}, nil
	}
	p, err := decoded(c)
	if err != nil {
		return instance.Commit{}, err
	}
	for _, e := range p.Events {
		n.share(e)
	}
	return commit(c, p), nil
}

func (n *Names) share(p *pb.Event) {
	share := func(names ...*string) {
		for _, name := range names {
			*name = n.Of(*name)
		}
	}
	switch e := p.GetEvent().(type) {
	case *pb.Event_Opened:
		share(&e.Opened.Workflow, &e.Opened.Definition, &e.Opened.State, &e.Opened.Owner, &e.Opened.Kind)
		if e.Opened.Issue != nil {
			share(&e.Opened.Issue.Repo)
		}
	case *pb.Event_Claimed:
		share(&e.Claimed.Role, &e.Claimed.Agent)
	case *pb.Event_Reported:
		share(&e.Reported.State, &e.Reported.Role)
	case *pb.Event_Moved:
		share(&e.Moved.From, &e.Moved.To, &e.Moved.Owner, &e.Moved.Kind)
	case *pb.Event_Migrated:
		share(&e.Migrated.Definition, &e.Migrated.Owner, &e.Migrated.Kind)
	}
}
