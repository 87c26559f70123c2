package wire

import (
	"sync"
	"sync/atomic"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Names are the names of states, roles and lifecycles that were decoded: all
// instances share one copy of each. The zero Names is ready, and safe for
// concurrent use.
type Names struct {
	all   sync.Map
	count atomic.Int32
}

const (
	maxName  = 128     // how long a text may be that is still a name, in bytes
	maxNames = 1 << 14 // how many are shared: those of agents may be ever new ones
)

// Of returns the one copy of a name.
func (n *Names) Of(name string) string {
	if len(name) > maxName {
		return name
	}
	if one, ok := n.all.Load(name); ok {
		return one.(string)
	}
	if n.count.Load() >= maxNames {
		return name
	}
	n.count.Add(1)
	one, _ := n.all.LoadOrStore(name, name)
	return one.(string)
}

// ToCommit is ToCommit with the names shared.
func (n *Names) ToCommit(c eventstore.Commit) (instance.Commit, error) {
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
