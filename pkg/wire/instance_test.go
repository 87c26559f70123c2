package wire_test

import (
	"math"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func full() instance.Instance {
	in := filled[instance.Instance]()
	in.Visits[0].State = in.State
	in.Questions[1].Answered = false
	return in
}

func TestAReaderGetsEveryFieldOfAnInstance(t *testing.T) {
	in := full()
	p := wire.Instance(in)
	missing(t, p)
	missing(t, wire.Summary(in))

	alike(t, in.Questions, wire.ToQuestions(p.Questions))
	alike(t, in.Notes, wire.ToNotes(p.Notes))
	alike(t, in.Evidence, wire.ToEvidence(p.Evidence))
	alike(t, in.Issue, wire.ToIssue(p.Issue))
	alike(t, *in.Last, wire.ToResult(p.LastResult))
	if p.Attempt != int32(in.Visits[0].Count) || p.Visits[1].Millis != uint32(in.Visits[1].Total.Milliseconds()) {
		t.Errorf("attempt %d, %v of visits %v", p.Attempt, p.Visits, in.Visits)
	}
	if s := wire.Summary(in); s.OpenQuestions != 1 || s.Agent != in.Claim.Agent || s.Attempt != p.Attempt {
		t.Errorf("summary %v of %+v", s, in)
	}
}

func TestAnEmptyInstanceHasNothingToSay(t *testing.T) {
	if p := wire.Instance(instance.Instance{}); proto.Size(p) != proto.Size(&pb.Instance{Issue: &pb.Issue{}}) {
		t.Errorf("an empty instance says %v", p)
	}
	if s := wire.Summary(instance.Instance{}); proto.Size(s) != 0 {
		t.Errorf("an empty instance sums up as %v", s)
	}
}

func TestAnyResultSurvivesTheWire(t *testing.T) {
	alike(t, filled[instance.Result](), wire.ToResult(wire.Result(filled[instance.Result]())))
	results, issues := within[instance.Result](), within[instance.Issue]()
	rapid.Check(t, func(t *rapid.T) {
		r, i := results.Draw(t, "result"), issues.Draw(t, "issue")
		alike(t, r, wire.ToResult(wire.Result(r)))
		alike(t, i, wire.ToIssue(wire.Issue(i)))
	})
	alike(t, instance.Result{}, wire.ToResult(nil))
}

func TestANumberTheWireCannotHoldIsTheNearestItCan(t *testing.T) {
	const most = math.MaxInt64
	r := wire.Result(instance.Result{
		Spend:     instance.Spend{TokensIn: most, TokensOut: -1, WallMS: 1 << 32},
		Artifacts: []instance.Artifact{{Size: 5 << 30}},
		Evidence:  []instance.Evidence{{Passed: most, ExitCode: math.MinInt64, Millis: most}},
	})
	want := &pb.Result{
		Spend:     &pb.Spend{TokensIn: math.MaxUint32, WallMs: math.MaxUint32},
		Artifacts: []*pb.Artifact{{Size: math.MaxUint32}},
		Evidence:  []*pb.Evidence{{Passed: math.MaxInt32, ExitCode: math.MinInt32, Millis: math.MaxInt32}},
	}
	if !proto.Equal(r, want) {
		t.Errorf("got %v, want %v", r, want)
	}
	long := wire.Instance(instance.Instance{Visits: []instance.Visit{{State: "waiting", Total: 100 * 24 * time.Hour}}})
	if got := long.Visits[0].Millis; got != math.MaxUint32 {
		t.Errorf("a hundred days are %d ms", got)
	}
}
