package api_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// start opens an instance of a workflow.
func (e *env) start(workflow, id string, vars map[string]string, after ...string) *pb.Instance {
	e.Helper()
	reply, err := e.client.OpenWith(e.Context(), "", id, &pb.Open{Workflow: workflow, Issue: &pb.Issue{Title: "title of " + id}, Base: "c0",
		Vars: vars, After: after})
	if err != nil {
		e.Fatal(err)
	}
	return reply.GetInstance()
}

func (e *env) as(role, command string, cmd *pb.Command) *pb.CommandReply {
	e.Helper()
	reply, err := e.client.DoAs(e.Context(), role, command, cmd)
	if err != nil {
		e.Fatalf("%s as %s: %v", command, role, err)
	}
	return reply
}

func (e *env) claim(role string, in *pb.Instance) *pb.CommandReply {
	e.Helper()
	return e.as(role, "claim", &pb.Command{Instance: in.GetInstance(),
		Action: &pb.Command_Claim{Claim: &pb.Claim{Agent: role + "-1", Work: in.GetWork(), LeaseMs: 60_000}}})
}

func (e *env) report(role string, claim *pb.CommandReply, r *pb.Result) *pb.Instance {
	e.Helper()
	id := claim.GetInstance().GetInstance()
	led := e.as(role, "report", &pb.Command{Instance: id,
		Action: &pb.Command_Report{Report: &pb.Report{Token: claim.GetToken(), Result: r}}}).GetInstance()
	in, err := e.client.Get(e.Context(), id)
	if err != nil || in.GetState() != led.GetState() || in.GetWork() != led.GetWork() {
		e.Fatalf("the report is answered %v, it is %v, %v", led, in, err)
	}
	return in
}

func TestARoleAsksAnotherAndGoesOnWithTheAnswer(t *testing.T) {
	e := newEnv(t, nil)
	claim := e.claim("triage", e.start("pipeline", "a", nil))
	if got := claim.GetTask(); got.GetQuestion() != nil || !slices.Equal(got.GetWrites(), []string{"triage"}) || got.GetWork().GetChange() != "dropped" {
		t.Errorf("the task is %v", got)
	}
	asked := e.as("triage", "inquire", &pb.Command{Instance: "a", Action: &pb.Command_Inquire{
		Inquire: &pb.Inquire{Token: claim.GetToken(), Questions: []*pb.Inquiry{{To: "reviewer", Question: "Is it ours?"}},
			Head: "c1", Bundle: "b1", Sections: map[string]string{"triage": `{"scope":"?"}`}}}}).GetInstance()
	if asked.GetWorker() != "reviewer" || asked.GetOwner() != "triage" || asked.GetClaim() != nil {
		t.Errorf("it is the turn of %s, claimed by %v", asked.GetWorker(), asked.GetClaim())
	}
	if asked.GetHead() != "c1" || asked.GetSections()["triage"] != `{"scope":"?"}` {
		t.Errorf("handed over is %s, %v", asked.GetHead(), asked.GetSections())
	}
	answering := e.claim("reviewer", asked)
	if q := answering.GetTask().GetQuestion(); q.GetNumber() != 1 || q.GetFrom() != "triage" || q.GetText() != "Is it ours?" ||
		answering.GetTask().GetNext() != nil || answering.GetTask().GetWork() == nil || answering.GetTask().GetWork().GetChange() != "" {
		t.Errorf("the task is %v", answering.GetTask())
	}
	back := e.report("reviewer", answering, &pb.Result{Status: "success", ConfidenceScore: 1, Summary: "It is."})
	if back.GetState() != "triage" || back.GetWorker() != "triage" || back.GetQuestions()[0].GetAnswer() != "It is." {
		t.Errorf("it is in %s, the turn of %s, with %v", back.GetState(), back.GetWorker(), back.GetQuestions())
	}
	done := e.report("triage", e.claim("triage", back),
		&pb.Result{Status: "success", ConfidenceScore: 1, Sections: map[string]string{"triage": `{"scope":"ours"}`}})
	if done.GetState() != "analyst" || done.GetSections()["triage"] != `{"scope":"ours"}` {
		t.Errorf("it is in %s with %v", done.GetState(), done.GetSections())
	}
}

func TestWhatIsEscalatedWaitsForPeople(t *testing.T) {
	e := newEnv(t, nil)
	claim := e.claim("triage", e.start("pipeline", "a", nil))
	escalate := &pb.Escalate{Token: claim.GetToken(), Reason: "who pays?", RequiresHuman: true, Sections: map[string]string{"writer": "{}"}}
	if _, err := e.client.DoAs(t.Context(), "triage", "escalate",
		&pb.Command{Instance: "a", Action: &pb.Command_Escalate{Escalate: escalate}}); !errors.Is(err,
		&instance.Refusal{Code: instance.CodeInvalid}) {
		t.Errorf("another's section is answered %v", err)
	}
	escalate.Sections = map[string]string{"triage": `{"scope":"?"}`}
	held := e.as("triage", "escalate", &pb.Command{Instance: "a", Action: &pb.Command_Escalate{Escalate: escalate}}).GetInstance()
	if held.GetSections()["triage"] != `{"scope":"?"}` {
		t.Errorf("handed over is %v", held.GetSections())
	}
	if all := held.GetEscalations(); len(all) != 1 || all[0].GetAgent() != "triage" || !all[0].GetRequiresHuman() || held.GetWorker() != "" {
		t.Errorf("escalated %v, the turn of %q", all, held.GetWorker())
	}
	_, err := e.client.DoAs(t.Context(), "triage", "claim",
		&pb.Command{Instance: "a", Action: &pb.Command_Claim{Claim: &pb.Claim{Agent: "x", Work: held.GetWork(), LeaseMs: 60_000}}})
	if !errors.Is(err, &instance.Refusal{Code: instance.CodePaused}) {
		t.Errorf("a claim meanwhile is answered %v", err)
	}
	reply, err := e.client.Resolve(t.Context(), "a", 0, "We do.")
	if err != nil {
		t.Fatal(err)
	}
	if in := reply.GetInstance(); in.GetWorker() != "triage" || in.GetEscalations()[0].GetResolution() != "We do." ||
		in.GetEscalations()[0].GetBy() != "operator:test" {
		t.Errorf("resolved as %v, the turn of %q", in.GetEscalations(), in.GetWorker())
	}
	e.claim("triage", reply.GetInstance())
}

// The task lifecycle lets the CTO skip states, and no other role.
func TestAnAgentMovesByHandWhereTheDefinitionSaysSo(t *testing.T) {
	e := newEnv(t, nil)
	e.start("task", "a", nil)
	e.start("issue", "b", nil)
	by := func(role, id, to string) error {
		_, err := e.client.DoAs(t.Context(), role, "override",
			&pb.Command{Instance: id, Actor: role + "-1", Action: &pb.Command_Override{Override: &pb.Override{To: to, Reason: "it is plain"}}})
		return err
	}
	forbidden := &instance.Refusal{Code: instance.CodeForbidden}
	if err := by("fullstack-developer", "a", "validated"); !errors.Is(err, forbidden) {
		t.Errorf("the developer's is answered %v", err)
	}
	if err := by("cto", "a", "validated"); !errors.Is(err, &instance.Refusal{Code: instance.CodeNotPermitted}) {
		t.Errorf("the CTO's to no next state is answered %v", err)
	}
	if err := by("cto", "a", "planning"); err != nil {
		t.Errorf("the CTO's is answered %v", err)
	}
	if err := by("pm", "b", "planning"); !errors.Is(err, forbidden) {
		t.Errorf("an agent's, where nothing is said of it, is answered %v", err)
	}
	if _, err := e.client.Override(t.Context(), "a", "validated", "I say so"); !errors.Is(err, forbidden) {
		t.Errorf("a person's is answered %v", err)
	}
	e.unchanged(func() {
		_, err := e.client.Do(t.Context(), "override",
			&pb.Command{Instance: "a", Actor: "cto/agent-1", Action: &pb.Command_Override{Override: &pb.Override{To: "planning", Reason: "r"}}})
		if !errors.Is(err, &instance.Refusal{Code: instance.CodeInvalid}) {
			t.Errorf("one who says it is the CTO is answered %v", err)
		}
	})
}

func TestTheSystemItselfReportsTimeAndEnds(t *testing.T) {
	e := newEnv(t, nil)
	e.start("task", "first", nil)
	in := e.start("task", "second", nil, "first")
	if d := in.GetNextDeadline(); in.GetState() != "pending" || in.GetTimeout().GetSeconds() != 3600 || d.GetLevel() != "warning" ||
		d.GetAt().AsTime().Sub(in.GetEnteredAt().AsTime()).Minutes() != 48 {
		t.Errorf("it is in %s for %v, the next deadline is %v", in.GetState(), in.GetTimeout(), d)
	}
	_, err := e.client.Do(t.Context(), "expire",
		&pb.Command{Instance: "second", Action: &pb.Command_Expire{Expire: &pb.Expire{Entered: in.GetEntered(), Level: "warning"}}})
	if !errors.Is(err, &instance.Refusal{Code: instance.CodeEarly}) {
		t.Errorf("a timer before its time is answered %v", err)
	}
	_, err = e.client.Do(t.Context(), "wake", &pb.Command{Instance: "second", Action: &pb.Command_Wake{Wake: &pb.Wake{}}})
	if !errors.Is(err, &instance.Refusal{Code: instance.CodeStale}) {
		t.Errorf("waking what sleeps not is answered %v", err)
	}
	reply, err := e.client.End(t.Context(), "end-first", "second", &pb.End{Instance: "first", State: "completed", Well: true})
	if err != nil || reply.GetInstance().GetState() != "assigned" || !reply.GetInstance().GetLinks()[0].GetEnded() {
		t.Errorf("the end of what it comes after is answered %v, %v", reply, err)
	}
}

func TestAnInstanceMigratesOnRequest(t *testing.T) {
	e := newEnv(t, nil)
	in := e.start("issue", "a", nil)
	for definition, want := range map[string]string{"": "is on this definition already", in.GetDefinition(): "is on this definition already",
		"task": "another lifecycle", "c0ffee": "unknown workflow"} {
		_, err := e.client.Migrate(t.Context(), "a", definition, "r")
		if no := new(instance.Refusal); !errors.As(err, &no) || no.Code != instance.CodeInvalid || !strings.Contains(no.What, want) {
			t.Errorf("to %q: answered %v, want: %s", definition, err, want)
		}
	}
}
