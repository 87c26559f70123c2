package wire

import (
	"cmp"
	"math"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Action decodes what a command asks for, and the name it is sent under. role
// is the sender's, as its subject tells it; empty for people and the gateway.
func Action(c *pb.Command, role string) (string, instance.Action) {
	switch a := c.GetAction().(type) {
	case *pb.Command_Open:
		return subject.Open, instance.Open{Issue: ToIssue(a.Open.GetIssue()), Base: a.Open.GetBase(), Bundle: a.Open.GetBundle(),
			State: a.Open.GetState(), Vars: a.Open.GetVars(), After: a.Open.GetAfter(), Parent: a.Open.GetParent()}
	case *pb.Command_Claim:
		return subject.Claim, instance.Claim{Role: role, Agent: a.Claim.GetAgent(), Work: a.Claim.GetWork(), Lease: millis(a.Claim.GetLeaseMs()),
			Program: a.Claim.GetProgram()}
	case *pb.Command_Heartbeat:
		return subject.Heartbeat, instance.Heartbeat{Token: uint64(a.Heartbeat.GetToken()), Lease: millis(a.Heartbeat.GetLeaseMs())}
	case *pb.Command_Report:
		return subject.Report, instance.Report{Token: uint64(a.Report.GetToken()), Result: ToResult(a.Report.GetResult())}
	case *pb.Command_Release:
		return subject.Release, instance.Release{Token: uint64(a.Release.GetToken()), Reason: a.Release.GetReason(), Head: a.Release.GetHead(),
			Bundle: a.Release.GetBundle(), Sections: a.Release.GetSections(), Artifacts: each(a.Release.GetArtifacts(), toArtifact)}
	case *pb.Command_Fail:
		return subject.Fail, instance.Fail{Token: uint64(a.Fail.GetToken()), Reason: a.Fail.GetReason(), Until: toTime(a.Fail.GetUntil())}
	case *pb.Command_Ask:
		return subject.Ask, instance.Ask{Token: uint64(a.Ask.GetToken()), Text: a.Ask.GetText(), Form: toWanted(a.Ask.GetForm())}
	case *pb.Command_Inquire:
		return subject.Inquire, instance.Inquire{Token: uint64(a.Inquire.GetToken()), Questions: each(a.Inquire.GetQuestions(), toInquiry),
			Head: a.Inquire.GetHead(), Bundle: a.Inquire.GetBundle(), Sections: a.Inquire.GetSections()}
	case *pb.Command_Escalate:
		return subject.Escalate, instance.Escalate{Token: uint64(a.Escalate.GetToken()), Reason: a.Escalate.GetReason(),
			RequiresHuman: a.Escalate.GetRequiresHuman(),
			Head:          a.Escalate.GetHead(), Bundle: a.Escalate.GetBundle(), Sections: a.Escalate.GetSections(), Artifacts: each(a.Escalate.GetArtifacts(), toArtifact)}
	case *pb.Command_Spend:
		return subject.Spend, instance.Spend{Token: uint64(a.Spend.GetToken()), Spend: toSpend(a.Spend.GetSpend())}
	case *pb.Command_Note:
		return subject.Note, instance.Note{Kind: a.Note.GetKind(), Text: a.Note.GetText(), Learning: toLearning(a.Note.GetLearning())}
	case *pb.Command_Signal:
		return subject.Signal, instance.Signal{Name: a.Signal.GetName(), Ref: a.Signal.GetRef(), Data: a.Signal.GetData(),
			Evidence: each(a.Signal.GetEvidence(), toEvidence)}
	case *pb.Command_Answer:
		return subject.Answer, instance.Answer{Number: int(a.Answer.GetNumber()), Text: a.Answer.GetText(),
			More: each(a.Answer.GetAnswers(), toAnswer)}
	case *pb.Command_Override:
		return subject.Override, instance.Override{To: a.Override.GetTo(), Reason: a.Override.GetReason()}
	case *pb.Command_Budget:
		return subject.Budget, instance.RaiseBudget{USD: a.Budget.GetUsd(), Tokens: int64(min(a.Budget.GetTokens(), math.MaxInt64))}
	case *pb.Command_RaiseDay:
		return subject.RaiseDay, toRaiseDay(a.RaiseDay)
	case *pb.Command_Pause:
		return subject.Pause, instance.Pause{Reason: a.Pause.GetReason()}
	case *pb.Command_Resume:
		return subject.Resume, instance.Resume{Reason: a.Resume.GetReason()}
	case *pb.Command_Cancel:
		return subject.Cancel, instance.Cancel{Reason: a.Cancel.GetReason()}
	case *pb.Command_Reopen:
		return subject.Reopen, instance.Reopen{To: a.Reopen.GetTo(), Reason: a.Reopen.GetReason()}
	case *pb.Command_Retry:
		return subject.Retry, instance.Retry{Reason: a.Retry.GetReason()}
	case *pb.Command_Resolve:
		return subject.Resolve, instance.Resolve{Number: int(a.Resolve.GetNumber()), Text: a.Resolve.GetText()}
	case *pb.Command_Migrate:
		return subject.Migrate, instance.Migrate{Reason: a.Migrate.GetReason()}
	case *pb.Command_Expire:
		return subject.Expire, instance.Expire{Entered: a.Expire.GetEntered(), Level: workflow.Level(a.Expire.GetLevel())}
	case *pb.Command_Wake:
		return subject.Wake, instance.Wake{Until: toTime(a.Wake.GetUntil())}
	case *pb.Command_End:
		return subject.End, instance.End{Instance: a.End.GetInstance(), State: a.End.GetState(), Well: a.End.GetWell()}
	}
	return "", nil
}

// Definition is the definition that a command asks for, by name or content hash:
// the one to open with or to migrate to.
func Definition(c *pb.Command) string {
	return cmp.Or(c.GetOpen().GetWorkflow(), c.GetMigrate().GetDefinition())
}

// Refusal encodes a refusal.
func Refusal(r *instance.Refusal) *pb.Refusal {
	return &pb.Refusal{Code: string(r.Code), Message: r.What, Allowed: r.Allowed}
}

func toInquiry(p *pb.Inquiry) instance.Inquiry {
	return instance.Inquiry{To: p.GetTo(), Question: p.GetQuestion(), RunOnly: p.GetRunOnly()}
}

func millis(ms uint32) time.Duration { return time.Duration(ms) * time.Millisecond }

func toRaiseDay(p *pb.RaiseDay) instance.RaiseDay {
	a := instance.RaiseDay{USD: p.GetUsd(), Tokens: int64(min(p.GetTokens(), math.MaxInt64)), WallMS: int64(min(p.GetWallMs(), math.MaxInt64))}
	if b := p.GetBudget(); b != "" {
		a.Budgets = []string{b}
	}
	return a
}
