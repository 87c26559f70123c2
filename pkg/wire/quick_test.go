package wire_test

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// both decodes a body in the two ways there are.
func both(t rapid.TB, data []byte) {
	t.Helper()
	var names wire.Names
	want, unread := wire.ToCommit(stored(data))
	got, err := names.ToCommit(stored(data))
	if (err == nil) != (unread == nil) {
		t.Fatalf("%x: with the names shared %v, else %v", data, err, unread)
	}
	alike(t, want, got)
}

func TestWithNamesSharedEveryEventIsTheSame(t *testing.T) {
	for _, e := range events() {
		data, err := wire.Events("ann", []instance.Event{e, e})
		if err != nil {
			t.Fatal(err)
		}
		both(t, data)
	}
	some := rapid.OneOf(
		within[instance.Opened]().AsAny(), within[instance.Claimed]().AsAny(), within[instance.LeaseExtended]().AsAny(), within[instance.Reported]().AsAny(),
		within[instance.Moved]().AsAny(), within[instance.Dispatched]().AsAny(), within[instance.Noted]().AsAny())
	plain := rapid.Custom(func(t *rapid.T) any {
		r := instance.Result{Status: instance.Success, ConfidenceScore: rapid.Float64Range(0, 1).Draw(t, "confidence"), Summary: rapid.String().Draw(t, "summary"), Head: "c1", Next: "done"}
		return instance.Reported{Token: 3, Role: "worker", Agent: "a", State: "todo", Result: r}
	})
	opened := rapid.Custom(func(t *rapid.T) any {
		o := within[instance.Opened]().Draw(t, "opened")
		o.Vars, o.Bundle, o.Bundles = nil, "", nil
		return o
	})
	rapid.Check(t, func(t *rapid.T) {
		var all []instance.Event
		for _, e := range rapid.SliceOf(rapid.OneOf(some, plain, opened)).Draw(t, "events") {
			all = append(all, e.(instance.Event))
		}
		data, err := wire.Events(rapid.String().Draw(t, "actor"), all)
		if err != nil {
			t.Skip(err)
		}
		both(t, data)
		// And when it is not as this build writes it.
		at := rapid.IntRange(0, len(data)).Draw(t, "at")
		switch rapid.IntRange(0, 3).Draw(t, "damage") {
		case 0:
			both(t, data[:at])
		case 1:
			if at < len(data) {
				data[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			}
			both(t, data)
		case 2:
			both(t, append(data, data...))
		case 3:
			both(t, protowire.AppendVarint(protowire.AppendTag(data, 99, protowire.VarintType), 1))
		}
	})
}

// A field that comes twice is put together, or the last one counts.
func TestWithNamesSharedFieldsThatComeTwiceAreTheSame(t *testing.T) {
	message := func(number protowire.Number, parts ...[]byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), slices.Concat(parts...))
	}
	encode := func(m proto.Message) []byte {
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	lease, result := filled[instance.Claimed](), filled[instance.Result]()
	claimed := encode(&pb.Claimed{Token: 1, Role: "worker", Lease: wire.Stamp(lease.Lease)})
	opened := encode(&pb.Opened{Workflow: "line", Issue: &pb.Issue{Title: "t", Labels: []string{"a"}}, Timeout: durationpb.New(time.Hour), After: []string{"b"}})
	reported := encode(&pb.Reported{Token: 1, Result: wire.Result(result)})
	for name, data := range map[string][]byte{
		"an event of two kinds":    message(2, message(2, claimed), message(5, reported)),
		"an event of one, twice":   message(2, message(2, claimed), message(2, claimed)),
		"all fields of a claim":    message(2, message(2, claimed, claimed)),
		"all fields of an opening": message(2, message(1, opened, opened)),
		"all fields of a report":   message(2, message(5, reported, reported)),
		"an event of none":         message(2),
		"an event that is unknown": message(2, message(77, claimed)),
		"no event":                 {},
		"text that is none":        message(1, []byte{0xff}),
	} {
		t.Run(name, func(t *testing.T) { both(t, data) })
	}
}
