package wire

import (
	"errors"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// ErrMismatch says that a command came on another command's subject.
var ErrMismatch = errors.New("the command does not belong on this subject")

// Action decodes what a command asks for, and the name it is sent under. role
// is the sender's, as its subject tells it; empty for people and the gateway.
func Action(c *pb.Command, role string) (string, instance.Action) {
	switch a := c.GetAction().(type) {
	case *pb.Command_Open:
		return subject.Open, instance.Open{Issue: ToIssue(a.Open.GetIssue()), Base: a.Open.GetBase(), Bundle: a.Open.GetBundle()}
	case *pb.Command_Claim:
		return subject.Claim, instance.Take{Role: role, Agent: a.Claim.GetAgent(), Work: a.Claim.GetWork(), Lease: millis(a.Claim.GetLeaseMs())}
	case *pb.Command_Heartbeat:
		return subject.Heartbeat, instance.Heartbeat{Token: uint64(a.Heartbeat.GetToken()), Lease: millis(a.Heartbeat.GetLeaseMs())}
	case *pb.Command_Report:
		return subject.Report, instance.Report{Token: uint64(a.Report.GetToken()), Result: ToResult(a.Report.GetResult())}
	case *pb.Command_Release:
		return subject.Release, instance.Release{Token: uint64(a.Release.GetToken()), Reason: a.Release.GetReason()}
	case *pb.Command_Fail:
		return subject.Fail, instance.Fail{Token: uint64(a.Fail.GetToken()), Reason: a.Fail.GetReason()}
	case *pb.Command_Ask:
		return subject.Ask, instance.Ask{Token: uint64(a.Ask.GetToken()), Text: a.Ask.GetText()}
	case *pb.Command_Spend:
		return subject.Spend, instance.Charge{Token: uint64(a.Spend.GetToken()), Spend: toSpend(a.Spend.GetSpend())}
	case *pb.Command_Note:
		return subject.Note, instance.Remark{Kind: a.Note.GetKind(), Text: a.Note.GetText()}
	case *pb.Command_Signal:
		return subject.Signal, instance.Signal{Name: a.Signal.GetName(), Ref: a.Signal.GetRef(), Data: a.Signal.GetData()}
	case *pb.Command_Answer:
		return subject.Answer, instance.Reply{Number: int(a.Answer.GetNumber()), Text: a.Answer.GetText()}
	case *pb.Command_Override:
		return subject.Override, instance.Override{To: a.Override.GetTo(), Reason: a.Override.GetReason()}
	case *pb.Command_Pause:
		return subject.Pause, instance.Pause{Reason: a.Pause.GetReason()}
	case *pb.Command_Resume:
		return subject.Resume, instance.Resume{Reason: a.Resume.GetReason()}
	case *pb.Command_Cancel:
		return subject.Cancel, instance.Cancel{Reason: a.Cancel.GetReason()}
	case *pb.Command_Retry:
		return subject.Retry, instance.Retry{Reason: a.Retry.GetReason()}
	}
	return "", nil
}

// Refusal encodes a refusal.
func Refusal(r *instance.Refusal) *pb.Refusal {
	return &pb.Refusal{Code: string(r.Code), Message: r.What, Allowed: r.Allowed}
}

func millis(ms uint32) time.Duration { return time.Duration(ms) * time.Millisecond }
