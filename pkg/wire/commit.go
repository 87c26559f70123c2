package wire

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Events encodes the body of a commit. What cannot be read back is an error: an
// event without a wire form, text that is not UTF-8.
func Events(actor string, events []instance.Event) ([]byte, error) {
	w := pen{data: make([]byte, 0, 384)} // most fit
	w.text(1, actor)
	for _, e := range events {
		at := w.open(2)
		w.event(e)
		odd := len(w.data) == at // an event without a wire form has no bytes
		w.close(at)
		w.odd = w.odd || odd
	}
	if !w.odd {
		return w.data, nil
	}
	return made(actor, events)
}

// made encodes the body of a commit by way of its message.
func made(actor string, events []instance.Event) ([]byte, error) {
	p := &pb.Commit{Actor: actor, Events: each(events, event)}
	for i, e := range p.Events {
		if e.Event == nil {
			return nil, fmt.Errorf("%T has no wire form", events[i])
		}
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(p)
}

// ToCommit decodes a stored commit. Events this build does not know are left out.
func ToCommit(c eventstore.Commit) (instance.Commit, error) {
	p, err := decoded(c)
	if err != nil {
		return instance.Commit{}, err
	}
	return commit(c, p), nil
}

func commit(c eventstore.Commit, p *pb.Commit) instance.Commit {
	return instance.Commit{Seq: c.Seq, ID: c.ID, At: c.Time, Actor: p.GetActor(), Events: ToEvents(p)}
}

// decoded is the body of a stored commit.
func decoded(c eventstore.Commit) (*pb.Commit, error) {
	p := new(pb.Commit)
	if err := proto.Unmarshal(c.Data, p); err != nil {
		return nil, fmt.Errorf("%w: commit %d of %s: %w", eventstore.ErrCorrupt, c.Seq, c.Instance, err)
	}
	return p, nil
}

// Record encodes a stored commit for a reader of the log.
func Record(c eventstore.Commit) (*pb.Record, error) {
	p, err := decoded(c)
	if err != nil {
		return nil, err
	}
	return &pb.Record{Seq: c.Seq, Prev: c.Prev, Id: c.ID, Time: stamp(c.Time), Workflow: c.Workflow, State: c.State, Commit: p, Chain: c.Chain}, nil
}

// ToEvents decodes the events of a record.
func ToEvents(p *pb.Commit) []instance.Event {
	if len(p.GetEvents()) == 0 {
		return nil
	}
	out := make([]instance.Event, 0, len(p.GetEvents()))
	for _, e := range p.GetEvents() {
		if ev := toEvent(e); ev != nil {
			out = append(out, ev)
		}
	}
	return out
}
