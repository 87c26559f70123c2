package wire

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Events encodes the body of a commit. Equal events have equal bytes: the hash
// chain covers them. It is an error if an event has no wire form or a text is not
// UTF-8, since decoding would fail.
func Events(actor string, events []instance.Event) ([]byte, error) {
	p := &pb.Commit{Actor: actor, Events: each(events, event)}
	for i, e := range p.Events {
		if e.Event == nil {
			return nil, fmt.Errorf("%T has no wire form", events[i])
		}
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(p)
}

// ToCommit decodes a stored commit. It leaves out events that this build does not
// know. The error of one that cannot be decoded is eventstore.ErrCorrupt.
func ToCommit(c eventstore.Commit) (instance.Commit, error) {
	p, err := toBody(c)
	if err != nil {
		return instance.Commit{}, err
	}
	return instance.Commit{Seq: c.Seq, ID: c.ID, At: c.Time, Actor: name(p.GetActor()), Events: ToEvents(p)}, nil
}

// toBody decodes the body of a stored commit.
func toBody(c eventstore.Commit) (*pb.Commit, error) {
	p := new(pb.Commit)
	if err := proto.Unmarshal(c.Data, p); err != nil {
		return nil, fmt.Errorf("%w: commit %d of %s: %w", eventstore.ErrCorrupt, c.Seq, c.Instance, err)
	}
	return p, nil
}

// Record encodes a stored commit for a reader of the log. The error of one that
// cannot be decoded is eventstore.ErrCorrupt.
func Record(c eventstore.Commit) (*pb.Record, error) {
	p, err := toBody(c)
	if err != nil {
		return nil, err
	}
	return &pb.Record{
		Seq: c.Seq, Prev: c.Prev, Id: c.ID, Time: stamp(c.Time), Workflow: c.Workflow, State: c.State, Commit: p, Chain: c.Chain,
		Instance: c.Instance, Wakes: c.Wakes}, nil
}

// Beyond reports whether a commit comes after those that a request asks for.
func Beyond(q *pb.HistoryRequest, c eventstore.Commit) bool {
	return q.GetUntil() > 0 && c.Seq > q.GetUntil() || q.GetUntilTime() != nil && c.Time.After(q.GetUntilTime().AsTime())
}

// Recorded decodes what Record encoded.
func Recorded(r *pb.Record) instance.Commit {
	return instance.Commit{Seq: r.GetSeq(), ID: r.GetId(), At: toTime(r.GetTime()), Actor: name(r.GetCommit().GetActor()),
		Events: ToEvents(r.GetCommit())}
}

// ToEvents decodes the events of a commit's body. It leaves out those that this
// build does not know.
func ToEvents(p *pb.Commit) []instance.Event {
	if len(p.GetEvents()) == 0 {
		return nil
	}
	out := make([]instance.Event, 0, len(p.GetEvents()))
	for _, e := range p.GetEvents() {
		if e := toEvent(e); e != nil {
			out = append(out, e)
		}
	}
	return out
}
