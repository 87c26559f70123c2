package wire_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// replies are a full reply, and one whose task is encoded already.
func replies(t *testing.T) []*pb.CommandReply {
	t.Helper()
	task := &pb.Task{About: "about", Next: []string{"a", "b"}, Policy: map[string]string{"x": "1", "y": ""}, Work: &pb.Work{Runs: "tests", Change: "required", Does: "merge"},
		Question: wire.Question(filled[instance.Question]()), Writes: []string{"plan"}}
	full := &pb.CommandReply{Seq: 1 << 63, Duplicate: true, Token: 7, Lease: wire.Stamp(full().EnteredAt), LeaseLeft: durationpb.New(-time.Second),
		Instance: wire.FullView(full()), Task: task, Over: "the budget is spent",
		Refusal: &pb.Refusal{Code: "stale", Message: "no", Allowed: []string{"yes"}}}
	encoded, err := proto.Marshal(&pb.CommandReply{Task: task})
	if err != nil {
		t.Fatal(err)
	}
	joined := &pb.CommandReply{Seq: 2}
	joined.ProtoReflect().SetUnknown(encoded)
	return []*pb.CommandReply{full, joined, {}}
}

func TestARepliesBytesAreThoseOfProtobuf(t *testing.T) {
	for _, reply := range replies(t) {
		written, err := wire.Marshal(reply)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := proto.Marshal(reply)
		if err != nil {
			t.Fatal(err)
		}
		var want pb.CommandReply
		if err := proto.Unmarshal(plain, &want); err != nil {
			t.Fatal(err)
		}
		got, again := new(pb.CommandReply), &pb.CommandReply{Refusal: &pb.Refusal{Code: "unavailable"}}
		if err := proto.Unmarshal(written, got); err != nil {
			t.Fatal(err)
		}
		if err := wire.Unmarshal(plain, again); err != nil {
			t.Fatal(err)
		}
		for way, got := range map[string]*pb.CommandReply{"written": got, "read": again} {
			if diff := cmp.Diff(&want, got, protocmp.Transform()); diff != "" {
				t.Errorf("-protobuf +%s:\n%s", way, diff)
			}
		}
	}
}

func TestWhatIsCutShortIsNoReply(t *testing.T) {
	data, err := wire.Marshal(replies(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(data) {
		want := proto.Unmarshal(data[:n], new(pb.CommandReply))
		if got := wire.Unmarshal(data[:n], new(pb.CommandReply)); (got == nil) != (want == nil) {
			t.Fatalf("of %d bytes %d are read: %v, want %v", len(data), n, got, want)
		}
	}
}
