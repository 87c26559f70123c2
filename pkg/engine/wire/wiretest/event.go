// Package wiretest lists the messages of the wire format for tests.
package wiretest

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Events returns an empty event of every type, by its name in event.proto. Tests
// check with it that a switch over events has a case for each.
func Events(t testing.TB) map[string]instance.Event {
	t.Helper()
	events := map[string]instance.Event{}
	types := new(pb.Event).ProtoReflect().Descriptor().Oneofs().ByName("event").Fields()
	for i := range types.Len() {
		field := types.Get(i)
		e := new(pb.Event)
		e.ProtoReflect().Set(field, e.ProtoReflect().NewField(field))
		data, err := proto.Marshal(&pb.Commit{Events: []*pb.Event{e}})
		if err != nil {
			t.Fatal(err)
		}
		commit := new(pb.Commit)
		if err := proto.Unmarshal(data, commit); err != nil {
			t.Fatal(err)
		}
		decoded := wire.ToEvents(commit)
		if len(decoded) != 1 {
			t.Fatalf("pkg/engine/wire/event.go does not decode the event %s", field.Name())
		}
		events[string(field.Name())] = decoded[0]
	}
	return events
}
