package wire_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// step is the commit of a usual step: a report, the move it leads to and the
// claim of the next agent.
func step() []instance.Event {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 123456789, time.UTC)
	return []instance.Event{
		instance.Reported{Token: 7, Role: "developer", Agent: "developer-1-3", State: "implementing",
			Result: instance.Result{Status: instance.Success, ConfidenceScore: 0.9, Summary: "The parser reads negative numbers.", Head: "8d1c3a5f0b7e"}},
		instance.Moved{From: "implementing", To: "testing", Owner: "tester", Kind: "work", Rule: "decide", Reason: "the work succeeded", Timeout: time.Hour},
		instance.Dispatched{State: "testing", Owner: "tester"},
		instance.Claimed{Token: 8, Role: "tester", Agent: "tester-1-2", Lease: noon, Direct: true},
	}
}

func BenchmarkDecodeCommit(b *testing.B) {
	data, err := wire.Events("developer-1-3", step())
	if err != nil {
		b.Fatal(err)
	}
	c := stored(data)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.ToCommit(c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeCommit(b *testing.B) {
	events := step()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.Events("developer-1-3", events); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncodeReply is the reply to an agent that claims.
func BenchmarkEncodeReply(b *testing.B) {
	in := instance.Fold("acme/widgets/42", []instance.Commit{{Seq: 1, At: time.Now(), Events: step()}})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := proto.Marshal(&pb.CommandReply{Seq: 7, Instance: wire.AgentView(in, 64)}); err != nil {
			b.Fatal(err)
		}
	}
}
