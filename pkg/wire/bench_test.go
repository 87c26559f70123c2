package wire_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/series"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// claimed is what an agent is told that claimed work of an instance with a past.
func claimed() *pb.CommandReply {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	in := instance.Instance{
		ID: "acme/widgets/42", Workflow: "issue", Definition: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", State: "implementing",
		Issue: instance.Issue{Repo: "acme/widgets", Number: 42, Title: "Widgets do not turn", Body: "They should turn, but they do not.\nSteps: turn one.",
			Labels: []string{"bug"}, Author: "ann", URL: "https://forge.example/acme/widgets/issues/42"},
		OpenedAt: at, Owner: "developer", EnteredAt: at, Entered: 9, Previous: series.New("received", "triaging", "analyzing_requirements", "planning_approach"),
		Iteration: 2, Returns: 1, Claim: &instance.Claim{Token: 4, Role: "developer", Agent: "developer-7f", At: at, Lease: at.Add(time.Minute)}, Tokens: 4, Work: 17,
		Base: "4b825dc642cb6eb9a060e54bf8d69288fbee4904", Head: "4b825dc642cb6eb9a060e54bf8d69288fbee4904", LastState: "planning_approach",
		Last:     &instance.Result{Status: instance.Success, ConfidenceScore: 0.9, Summary: "The axle is missing.", Data: map[string]string{"approach": "add an axle"}},
		Evidence: []instance.Evidence{{Name: "tests", OK: true, Commit: "4b825dc642cb6eb9a060e54bf8d69288fbee4904", Command: "go test ./...", Passed: 12, Millis: 812}},
		Vars:     map[string]string{"mode": "auto"}, Seq: 18, UpdatedAt: at,
	}
	return &pb.CommandReply{Seq: 18, Token: 4, Lease: wire.Stamp(at.Add(time.Minute)), Instance: wire.Instance(in), Task: &pb.Task{
		About: "Make the change that was planned.", Next: []string{"running_tests", "human_input_needed", "planning_approach"},
		Policy: map[string]string{"require_tests": "true", "max_iterations": "5", "max_files": "40"}}}
}

// reported is what it is told when it has reported.
func reported() *pb.CommandReply {
	return &pb.CommandReply{Seq: 19, Instance: &pb.Instance{Instance: "acme/widgets/42", Workflow: "issue", State: "running_tests", Owner: "tester",
		Worker: "tester", Iteration: 2, Work: 19, Seq: 19}}
}

func commits() map[string][]instance.Event {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	return map[string][]instance.Event{
		"claim": {instance.Claimed{Token: 4, Role: "developer", Agent: "developer-7f", Lease: at}},
		"report": {
			instance.Reported{Token: 4, Role: "developer", Agent: "developer-7f", State: "implementing",
				Result: instance.Result{Status: instance.Success, ConfidenceScore: 0.9, Summary: "The axle is there.", Head: "4b825dc642cb6eb9a060e54bf8d69288fbee4904"}},
			instance.Moved{From: "implementing", To: "running_tests", Owner: "tester", Rule: "otherwise", Timeout: time.Hour},
		},
	}
}

func BenchmarkEvents(b *testing.B) {
	for name, events := range commits() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := wire.Events("developer-7f", events); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMarshal(b *testing.B) {
	for name, m := range map[string]*pb.CommandReply{"claim": claimed(), "report": reported()} {
		b.Run(name+"/protobuf", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := proto.Marshal(m); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/wire", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := wire.Marshal(m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	for name, m := range map[string]*pb.CommandReply{"claim": claimed(), "report": reported()} {
		data, _ := proto.Marshal(m)
		b.Run(name+"/protobuf", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := proto.Unmarshal(data, new(pb.CommandReply)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/wire", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := wire.Unmarshal(data, new(pb.CommandReply)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
