package wire_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// FuzzRequest holds that no bytes on the bus stop who decodes them, and that what was
// decoded is encoded again.
func FuzzRequest(f *testing.F) {
	for _, c := range []*pb.Command{
		{Id: "a", Instance: "acme/widgets/1", Action: &pb.Command_Claim{Claim: &pb.Claim{Agent: "x", Work: 7}}},
		{Action: &pb.Command_Report{Report: &pb.Report{Token: 1, Result: &pb.Result{Status: "success", Sections: map[string]string{"a": "{}"}}}}},
	} {
		if b, err := proto.Marshal(c); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, m := range []proto.Message{new(pb.Command), new(pb.CommandReply), new(pb.Instance), new(pb.Report), new(pb.ListReply)} {
			if wire.Unmarshal(data, m) != nil {
				continue
			}
			if _, err := wire.Marshal(m); err != nil {
				t.Errorf("%T is decoded and not encoded: %v", m, err)
			}
			switch m := m.(type) {
			case *pb.Report:
				_ = wire.ToResult(m.GetResult())
			case *pb.Instance:
				_, _, _ = wire.ToIssue(m.GetIssue()), wire.ToNotes(m.GetNotes()), wire.ToQuestions(m.GetQuestions())
				_, _ = wire.ToEvidence(m.GetEvidence()), wire.ToEscalations(m.GetEscalations())
			}
		}
	})
}
