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
	p := new(pb.Commit)
	if err := proto.Unmarshal(c.Data, p); err != nil {
		return instance.Commit{}, fmt.Errorf("%w: commit %d of %s: %w", eventstore.ErrCorrupt, c.Seq, c.Instance, err)
	}
	out := instance.Commit{Seq: c.Seq, ID: c.ID, At: c.Time, Actor: p.GetActor()}
	for _, e := range p.GetEvents() {
		if ev := toEvent(e); ev != nil {
			out.Events = append(out.Events, ev)
		}
	}
	return out, nil
}

// Record encodes a stored commit for a reader of the log.
func Record(c eventstore.Commit) (*pb.Record, error) {
	p := new(pb.Commit)
	if err := proto.Unmarshal(c.Data, p); err != nil {
		return nil, fmt.Errorf("%w: commit %d of %s: %w", eventstore.ErrCorrupt, c.Seq, c.Instance, err)
	}
	return &pb.Record{Seq: c.Seq, Prev: c.Prev, Id: c.ID, Time: stamp(c.Time), Workflow: c.Workflow, State: c.State, Commit: p, Chain: c.Chain}, nil
}

// ToEvents decodes the events of a record.
func ToEvents(p *pb.Commit) []instance.Event {
	var out []instance.Event
	for _, e := range p.GetEvents() {
		if ev := toEvent(e); ev != nil {
			out = append(out, ev)
		}
	}
	return out
}
