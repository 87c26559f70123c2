package wire

import (
	"github.com/signalbox/signalbox/pkg/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// ToEscalations decodes escalations.
func ToEscalations(p []*pb.Escalation) []instance.Escalation { return each(p, toEscalation) }

// ToLinks decodes links.
func ToLinks(p []*pb.Link) []instance.Link { return each(p, toLink) }

func escalation(e instance.Escalation) *pb.Escalation {
	return &pb.Escalation{Number: i32(e.Number), Agent: e.Agent, Reason: e.Reason, RequiresHuman: e.RequiresHuman, At: stamp(e.At),
		Resolved: e.Resolved, Resolution: e.Resolution, By: e.By}
}

func toEscalation(p *pb.Escalation) instance.Escalation {
	return instance.Escalation{Number: int(p.GetNumber()), Agent: p.GetAgent(), Reason: p.GetReason(), RequiresHuman: p.GetRequiresHuman(),
		At: toTime(p.GetAt()), Resolved: p.GetResolved(), Resolution: p.GetResolution(), By: p.GetBy()}
}

func link(l instance.Link) *pb.Link {
	return &pb.Link{Instance: l.Instance, Kind: string(l.Kind), Workflow: l.Workflow, State: l.State, Ended: l.Ended, Well: l.Well}
}

func toLink(p *pb.Link) instance.Link {
	return instance.Link{Instance: p.GetInstance(), Kind: instance.LinkKind(p.GetKind()), Workflow: p.GetWorkflow(), State: p.GetState(),
		Ended: p.GetEnded(), Well: p.GetWell()}
}

func parked(p *instance.Parked) *pb.Parked {
	if p == nil {
		return nil
	}
	return &pb.Parked{Until: stamp(p.Until), Reason: p.Reason, Standing: p.Standing}
}

// ToParked decodes why, and for how long, the owner has nothing to do.
func ToParked(p *pb.Parked) *instance.Parked {
	if p == nil {
		return nil
	}
	return &instance.Parked{Until: toTime(p.GetUntil()), Reason: p.GetReason(), Standing: p.GetStanding()}
}

func failures(all []instance.FailureCount) map[string]int32 {
	var counts map[string]int32
	for _, f := range all {
		if counts == nil {
			counts = map[string]int32{}
		}
		counts[f.State] = i32(f.Count)
	}
	return counts
}
