package wire_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/question"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestEveryCommandIsRead(t *testing.T) {
	issue, result, spend := filled[instance.Issue](), filled[instance.Result](), filled[instance.Cost]()
	pbResult := wire.Result(result)
	pbSpend := wire.Result(instance.Result{Spend: spend}).Spend
	noon := time.Date(2026, 1, 2, 12, 0, 0, 7, time.UTC)
	wrote := map[string]string{"writer": "{}"}
	kept, log := []*pb.Artifact{{Name: "log", Object: "o1", Size: 7, Sha256: "f00"}}, []instance.Artifact{{Name: "log", Object: "o1", Size: 7, SHA256: "f00"}}
	read := map[string]bool{}
	for _, c := range []struct {
		sent *pb.Command
		name string
		want instance.Action
	}{
		{&pb.Command{Action: &pb.Command_Open{Open: &pb.Open{Workflow: "issue", Issue: wire.Issue(issue), Base: "c0", Bundle: "b0",
			State: "pushed", Vars: map[string]string{"tries": "1"}, After: []string{"a", "b"}, Parent: "p"}}},
			subject.Open, instance.Open{Issue: issue, Base: "c0", Bundle: "b0", State: "pushed", Vars: map[string]string{"tries": "1"}, After: []string{"a", "b"}, Parent: "p"}},
		{&pb.Command{Action: &pb.Command_Claim{Claim: &pb.Claim{Agent: "a1", Work: 1 << 40, LeaseMs: 1500, WaitMs: 200, Program: "v1.2.3"}}},
			subject.Claim, instance.Claim{Role: "tester", Agent: "a1", Work: 1 << 40, Lease: 1500 * time.Millisecond, Program: "v1.2.3"}},
		{&pb.Command{Action: &pb.Command_Heartbeat{Heartbeat: &pb.Heartbeat{Token: 3, LeaseMs: 2}}},
			subject.Heartbeat, instance.Heartbeat{Token: 3, Lease: 2 * time.Millisecond}},
		{&pb.Command{Action: &pb.Command_Report{Report: &pb.Report{Token: 3, Result: pbResult}}},
			subject.Report, instance.Report{Token: 3, Result: result}},
		{&pb.Command{Action: &pb.Command_Release{Release: &pb.Release{Token: 3, Reason: "tired", Head: "c1", Bundle: "b1", Sections: wrote, Artifacts: kept}}},
			subject.Release, instance.Release{Token: 3, Reason: "tired", Head: "c1", Bundle: "b1", Sections: wrote, Artifacts: log}},
		{&pb.Command{Action: &pb.Command_Fail{Fail: &pb.Fail{Token: 3, Reason: "disk", Until: timestamppb.New(noon)}}},
			subject.Fail, instance.Fail{Token: 3, Reason: "disk", Until: noon}},
		{&pb.Command{Action: &pb.Command_Signal{Signal: &pb.Signal{Name: "commented", Ref: "e1", Data: map[string]string{"body": "hm"}, Evidence: pbResult.Evidence}}},
			subject.Signal, instance.Signal{Name: "commented", Ref: "e1", Data: map[string]string{"body": "hm"}, Evidence: result.Evidence}},
		{&pb.Command{Action: &pb.Command_Ask{Ask: &pb.Ask{Token: 3, Text: "Why?", Form: &pb.WantedForm{Within: durationpb.New(time.Hour),
			Form: &pb.QuestionForm{Kind: "choice", Options: []string{"x", "y"}, Default: "y", Reason: "It differs."}}}}},
			subject.Ask, instance.Ask{Token: 3, Text: "Why?", Form: question.Wanted{Within: time.Hour,
				Form: question.Form{Kind: question.Choice, Options: []string{"x", "y"}, Default: "y", Reason: "It differs."}}}},
		{&pb.Command{Action: &pb.Command_Answer{Answer: &pb.Reply{Number: 2, Text: "So", Answers: []*pb.Answer{{Question: 3, Text: "a", By: "ann"}}}}},
			subject.Answer, instance.Answer{Number: 2, Text: "So", More: []instance.QuestionAnswer{{Question: 3, Text: "a", By: "ann"}}}},
		{&pb.Command{Action: &pb.Command_Note{Note: &pb.Note{Kind: "learning", Text: "hm",
			Learning: &pb.Learning{Path: "pkg", Instance: "a/1", Trusted: true, Ids: []string{"1f"}}}}},
			subject.Note, instance.Note{Kind: "learning", Text: "hm", Learning: &instance.Learning{Path: "pkg", Instance: "a/1", Trusted: true, IDs: []string{"1f"}}}},
		{&pb.Command{Action: &pb.Command_Spend{Spend: &pb.Charge{Token: 3, Spend: pbSpend}}},
			subject.Spend, instance.Spend{Token: 3, Spend: spend}},
		{&pb.Command{Action: &pb.Command_Override{Override: &pb.Override{To: "failed", Reason: "late"}}},
			subject.Override, instance.Override{To: "failed", Reason: "late"}},
		{&pb.Command{Action: &pb.Command_Pause{Pause: &pb.Pause{Reason: "lunch"}}},
			subject.Pause, instance.Pause{Reason: "lunch"}},
		{&pb.Command{Action: &pb.Command_Reopen{Reopen: &pb.Reopen{To: "implementing", Reason: "mended"}}},
			subject.Reopen, instance.Reopen{To: "implementing", Reason: "mended"}},
		{&pb.Command{Action: &pb.Command_Resume{Resume: &pb.Resume{Reason: "fed"}}},
			subject.Resume, instance.Resume{Reason: "fed"}},
		{&pb.Command{Action: &pb.Command_Cancel{Cancel: &pb.Cancel{Reason: "moot"}}},
			subject.Cancel, instance.Cancel{Reason: "moot"}},
		{&pb.Command{Action: &pb.Command_Retry{Retry: &pb.Retry{Reason: "lost"}}},
			subject.Retry, instance.Retry{Reason: "lost"}},
		{&pb.Command{Action: &pb.Command_Inquire{Inquire: &pb.Inquire{Token: 3, Questions: []*pb.Inquiry{{To: "analyst", Question: "Which?", RunOnly: true}}, Head: "c1", Bundle: "b1", Sections: wrote}}},
			subject.Inquire, instance.Inquire{Token: 3, Questions: []instance.Inquiry{{To: "analyst", Question: "Which?", RunOnly: true}}, Head: "c1", Bundle: "b1", Sections: wrote}},
		{&pb.Command{Action: &pb.Command_Escalate{Escalate: &pb.Escalate{Token: 3, Reason: "stuck", RequiresHuman: true, Head: "c1", Bundle: "b1", Sections: wrote, Artifacts: kept}}},
			subject.Escalate, instance.Escalate{Token: 3, Reason: "stuck", RequiresHuman: true, Head: "c1", Bundle: "b1", Sections: wrote, Artifacts: log}},
		{&pb.Command{Action: &pb.Command_Budget{Budget: &pb.RaiseBudget{Usd: 5, Tokens: 7}}},
			subject.Budget, instance.RaiseBudget{USD: 5, Tokens: 7}},
		{&pb.Command{Action: &pb.Command_RaiseDay{RaiseDay: &pb.RaiseDay{Budget: "day=5usd", Usd: 5, Tokens: 7, WallMs: 9}}},
			subject.RaiseDay, instance.RaiseDay{Budgets: []string{"day=5usd"}, USD: 5, Tokens: 7, WallMS: 9}},
		{&pb.Command{Action: &pb.Command_Resolve{Resolve: &pb.Resolve{Number: 2, Text: "go on"}}},
			subject.Resolve, instance.Resolve{Number: 2, Text: "go on"}},
		{&pb.Command{Action: &pb.Command_Expire{Expire: &pb.Expire{Entered: 1 << 40, Level: "alert"}}},
			subject.Expire, instance.Expire{Entered: 1 << 40, Level: workflow.Alert}},
		{&pb.Command{Action: &pb.Command_Wake{Wake: &pb.Wake{Until: timestamppb.New(noon)}}},
			subject.Wake, instance.Wake{Until: noon}},
		{&pb.Command{Action: &pb.Command_End{End: &pb.End{Instance: "child", State: "completed", Well: true}}},
			subject.End, instance.End{Instance: "child", State: "completed", Well: true}},
		{&pb.Command{Action: &pb.Command_Migrate{Migrate: &pb.Migrate{Reason: "mended", Definition: "abc"}}},
			subject.Migrate, instance.Migrate{Reason: "mended"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, err := proto.Marshal(c.sent)
			if err != nil {
				t.Fatal(err)
			}
			received := new(pb.Command)
			if err := proto.Unmarshal(data, received); err != nil {
				t.Fatal(err)
			}
			name, action := wire.Action(received, "tester")
			if name != c.name {
				t.Errorf("sent as %s, read as %s", c.name, name)
			}
			alike(t, c.want, action)
			m := c.sent.ProtoReflect()
			field := m.WhichOneof(m.Descriptor().Oneofs().ByName("action"))
			read[string(field.Name())] = true
			for _, path := range unset(m.Get(field).Message(), "") {
				t.Errorf("the case does not try %s", path)
			}
		})
	}
	forms := new(pb.Command).ProtoReflect().Descriptor().Oneofs().ByName("action").Fields()
	for i := range forms.Len() {
		if name := string(forms.Get(i).Name()); !read[name] {
			t.Errorf("command_test.go has no example of %s", name)
		}
	}
}

func TestACommandWithoutAnActionIsNone(t *testing.T) {
	for _, c := range []*pb.Command{nil, {}, {Id: "c-1", Instance: "i"}} {
		if name, action := wire.Action(c, "pm"); name != "" || action != nil {
			t.Errorf("Action(%v) = %q, %v; want none", c, name, action)
		}
	}
}

// An empty body is one whose every field is zero: the core refuses what it lacks.
func TestAnEmptyBodyIsRead(t *testing.T) {
	forms := new(pb.Command).ProtoReflect().Descriptor().Oneofs().ByName("action").Fields()
	for i := range forms.Len() {
		c := new(pb.Command)
		c.ProtoReflect().Set(forms.Get(i), c.ProtoReflect().NewField(forms.Get(i)))
		if name, action := wire.Action(c, ""); name == "" || action == nil {
			t.Errorf("an empty %s is read as %q, %v", forms.Get(i).Name(), name, action)
		}
	}
}

func TestACommandNamesTheDefinitionItAsksFor(t *testing.T) {
	for want, c := range map[string]*pb.Command{
		"issue": {Action: &pb.Command_Open{Open: &pb.Open{Workflow: "issue"}}},
		"abc":   {Action: &pb.Command_Migrate{Migrate: &pb.Migrate{Definition: "abc"}}},
		"":      {Action: &pb.Command_Retry{Retry: &pb.Retry{Reason: "lost"}}},
	} {
		if got := wire.Definition(c); got != want {
			t.Errorf("%v asks for %q, want %q", c, got, want)
		}
	}
}

func TestARefusalKeepsItsCodeItsTextAndWhatIsPermitted(t *testing.T) {
	got := wire.Refusal(&instance.Refusal{Code: instance.CodeHeld, Instance: "i", What: "p1 holds it", Allowed: []string{"a", "b"}})
	missing(t, got)
	if want := (&pb.Refusal{Code: "held", Message: "p1 holds it", Allowed: []string{"a", "b"}}); !proto.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
