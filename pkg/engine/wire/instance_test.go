package wire_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func full() instance.Instance {
	in := filled[instance.Instance]()
	in.Visits[0].State = in.State
	in.Questions[1].Answered, in.Questions[1].To = false, ""
	in.Escalations[1].RequiresHuman, in.Escalations[1].Resolved = false, false
	in.Links[1].Kind, in.Links[1].Ended = instance.After, false
	in.Closed = ""
	in.Evidence[0].Commit = in.Head
	return in
}

func TestAReaderGetsEveryFieldOfAnInstance(t *testing.T) {
	in := full()
	p := wire.FullView(in)
	if names := unset(p.ProtoReflect(), ""); !slices.Equal(names, []string{"closed", "spend.brain", "next_deadline", "time_in_state", "total_time"}) {
		t.Errorf("it leaves out %v", names)
	}
	if names := unset(wire.Summary(in).ProtoReflect(), ""); !slices.Equal(names, []string{"closed", "spend.brain", "waiting"}) {
		t.Errorf("a line of a list leaves out %v", names)
	}

	alike(t, in.Questions, wire.ToQuestions(p.Questions))
	alike(t, in.Notes, wire.ToNotes(p.Notes))
	alike(t, in.Evidence, wire.ToEvidence(p.Evidence))
	alike(t, in.Issue, wire.ToIssue(p.Issue))
	alike(t, *in.Last, wire.ToResult(p.LastResult))
	alike(t, in.Escalations, wire.ToEscalations(p.Escalations))
	alike(t, in.Links, wire.ToLinks(p.Links))
	alike(t, map[string]int32{in.Failures[0].State: int32(in.Failures[0].Count), in.Failures[1].State: int32(in.Failures[1].Count)}, p.Failures)
	if p.Attempt != int32(in.Visits[0].Count) || p.Visits[1].Millis != uint32(in.Visits[1].Total.Milliseconds()) {
		t.Errorf("attempt %d, %v of visits %v", p.Attempt, p.Visits, in.Visits)
	}
	if s := wire.Summary(in); s.OpenQuestions != 1 || s.Agent != in.Claim.Agent || s.Attempt != p.Attempt ||
		s.OpenEscalations != 1 || s.WaitingOn != 1 || s.Failures != int32(in.Failures[1].Count) || s.Worker != in.Owner || p.Worker != in.Owner {
		t.Errorf("summary %v of %+v", s, in)
	}
}

// What an agent is told costs the same however long the past is.
func TestAnAgentGetsAllButTheLongPast(t *testing.T) {
	in := full()
	want, got := wire.FullView(in), wire.AgentView(in, 1)
	if len(got.PreviousStates) != 1 || got.PreviousStates[0] != want.PreviousStates[len(want.PreviousStates)-1] {
		t.Errorf("it was in %q, want the newest of %q", got.PreviousStates, want.PreviousStates)
	}
	want.PreviousStates, want.Visits = got.PreviousStates, nil
	if !proto.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWhatIsCompactSaysWhereAnInstanceIs(t *testing.T) {
	in := filled[instance.Instance]()
	in.Escalations, in.Questions = nil, nil // so that a person is to work on it
	full, compact := wire.FullView(in).ProtoReflect(), wire.Compact(in).ProtoReflect()
	var has []string
	compact.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		has = append(has, string(f.Name()))
		if !v.Equal(full.Get(f)) {
			t.Errorf("%s is %v, want %v", f.Name(), v, full.Get(f))
		}
		return true
	})
	slices.Sort(has)
	if want := []string{"closed", "instance", "iteration", "kind", "owner", "paused", "seq", "state", "work", "worker", "workflow"}; !slices.Equal(has, want) {
		t.Errorf("it has %v, want %v", has, want)
	}
}

func TestAnEmptyInstanceHasNothingToSay(t *testing.T) {
	if p := wire.FullView(instance.Instance{}); proto.Size(p) != proto.Size(&pb.Instance{Issue: &pb.Issue{}}) {
		t.Errorf("an empty instance says %v", p)
	}
	if s := wire.Summary(instance.Instance{}); proto.Size(s) != 0 {
		t.Errorf("an empty instance sums up as %v", s)
	}
}

// The definition's timeouts are 10 minutes, told of at 80, 100 and 150 %.
func TestHowAnInstanceStandsDependsOnTheMoment(t *testing.T) {
	def, err := workflow.Load("slow", []byte("workflow: slow\nversion: 1\ninitial: todo\nstates:\n  todo: {owner: worker, timeout: 10m, next: [done], decide: [{to: done}]}\n  done: {final: true}\n"))
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	in := instance.Instance{State: "todo", EnteredAt: noon, UpdatedAt: noon.Add(time.Minute), Visits: []instance.Visit{{State: "todo", Count: 2, Total: time.Hour}}}
	for _, c := range []struct {
		name        string
		now         time.Duration
		level       workflow.Level
		closed      instance.Closed
		stay, total time.Duration
		next        string
		at          time.Duration
	}{
		{"at first", 2 * time.Minute, "", "", 2 * time.Minute, 62 * time.Minute, "warning", 8 * time.Minute},
		{"to a clock that is behind", -time.Minute, "", "", 0, time.Hour, "warning", 8 * time.Minute},
		{"warned", 9 * time.Minute, workflow.Warning, "", 9 * time.Minute, 69 * time.Minute, "alert", 10 * time.Minute},
		{"escalated", 16 * time.Minute, workflow.Escalation, "", 16 * time.Minute, 76 * time.Minute, "", 0},
		{"ended", 16 * time.Minute, "", instance.Ended, 0, time.Hour, "", 0},
		{"cancelled", 16 * time.Minute, "", instance.Cancelled, time.Minute, 61 * time.Minute, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			in.Level, in.Closed = c.level, c.closed
			p := wire.WithDeadlines(def, in, noon.Add(c.now))
			if p.TimeInState.AsDuration() != c.stay || p.TotalTime.AsDuration() != c.total {
				t.Errorf("in the state for %v, in all %v", p.TimeInState.AsDuration(), p.TotalTime.AsDuration())
			}
			if d := p.NextDeadline; d.GetLevel() != c.next || d != nil && !d.At.AsTime().Equal(noon.Add(c.at)) {
				t.Errorf("the next deadline is %v", d)
			}
		})
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
		Spend:     instance.Cost{TokensIn: most, TokensOut: -1, WallMS: 1 << 32},
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
	long := wire.FullView(instance.Instance{Visits: []instance.Visit{{State: "waiting", Total: 100 * 24 * time.Hour}}})
	if got := long.Visits[0].Millis; got != math.MaxUint32 {
		t.Errorf("a hundred days are %d ms", got)
	}
}

func TestASummaryHasTheBeginningsOfLongTexts(t *testing.T) {
	long := strings.Repeat("ä", 1<<19)
	s := wire.Summary(instance.Instance{ID: "a", Paused: true, Reason: long, Issue: instance.Issue{Title: long, Labels: []string{long}}})
	for _, text := range append(s.GetLabels(), s.GetTitle(), s.GetPausedFor()) {
		if n := len(text); n > 1100 || !strings.HasPrefix(text, "ää") || !strings.HasSuffix(text, "ä…") {
			t.Errorf("%d bytes: %.20q", n, text)
		}
	}
	if s := wire.Summary(instance.Instance{ID: "a", Issue: instance.Issue{Title: "short"}}); s.GetTitle() != "short" || s.GetLabels() != nil {
		t.Error(s)
	}
}
