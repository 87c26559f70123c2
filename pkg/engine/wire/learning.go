package wire

import (
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// learningOf encodes the fields of a note about learnings other than its text.
func learningOf(l *instance.Learning) *pb.Learning {
	if l == nil {
		return nil
	}
	return &pb.Learning{Path: l.Path, Instance: l.Instance, Trusted: l.Trusted, Ids: l.IDs}
}

func toLearning(p *pb.Learning) *instance.Learning {
	if p == nil {
		return nil
	}
	return &instance.Learning{Path: p.GetPath(), Instance: name(p.GetInstance()), Trusted: p.GetTrusted(), IDs: p.GetIds()}
}

// Learnings encodes what was learned of a repository.
func Learnings(all []learning.Learning) []*pb.KnownLearning {
	return each(all, func(l learning.Learning) *pb.KnownLearning {
		return &pb.KnownLearning{
			Id: l.ID, Path: l.Path, Text: l.Text, By: l.By, Instance: l.Instance, Trusted: l.Trusted, At: Stamp(l.At), State: string(l.State),
			ConfirmedBy: l.ConfirmedBy, ConfirmedAt: Stamp(l.ConfirmedAt), Used: l.Used, UsedAt: Stamp(l.UsedAt), Successes: l.Successes,
			RemovedBy: l.RemovedBy, RemovedAt: Stamp(l.RemovedAt),
		}
	})
}

// ToLearnings decodes what was learned of a repository.
func ToLearnings(p []*pb.KnownLearning) []learning.Learning {
	return each(p, func(p *pb.KnownLearning) learning.Learning {
		return learning.Learning{
			ID: p.GetId(), Path: p.GetPath(), Text: p.GetText(), By: p.GetBy(), Instance: p.GetInstance(), Trusted: p.GetTrusted(),
			At: toTime(p.GetAt()), State: learning.State(p.GetState()), ConfirmedBy: p.GetConfirmedBy(), ConfirmedAt: toTime(p.GetConfirmedAt()),
			Used: p.GetUsed(), UsedAt: toTime(p.GetUsedAt()), Successes: p.GetSuccesses(), RemovedBy: p.GetRemovedBy(), RemovedAt: toTime(p.GetRemovedAt()),
		}
	})
}
