package wire

import (
	"math"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/allowance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Ask returns the message of what a process asks about an allowance.
func Ask(a allowance.Ask, now time.Time) *pb.AllowanceRequest {
	p := &pb.AllowanceRequest{Holder: a.Holder, Told: ReachedLimits(a.Told, now)}
	if a.Place != nil {
		p.Place = &pb.AllowanceRequest_Place{Creates: a.Place.Creates, PaceMs: milliseconds(a.Place.Pace),
			AfterMs: milliseconds(a.Place.After.Sub(now)), WithinMs: milliseconds(a.Place.Latest.Sub(now).Truncate(time.Millisecond))}
	}
	return p
}

// ToAsk is the inverse of Ask.
func ToAsk(p *pb.AllowanceRequest, now time.Time) allowance.Ask {
	a := allowance.Ask{Holder: p.GetHolder(), Told: ToReachedLimits(p.GetTold(), now)}
	if of := p.GetPlace(); of != nil {
		a.Place = &allowance.Place{Creates: of.GetCreates(), Pace: ofMilliseconds(of.GetPaceMs()),
			After: now.Add(ofMilliseconds(of.GetAfterMs())), Latest: now.Add(ofMilliseconds(of.GetWithinMs()))}
	}
	return a
}

// Allowance returns the message of the answer. News is for the others.
func Allowance(a allowance.Answer, now time.Time) *pb.AllowanceReply {
	p := &pb.AllowanceReply{Taken: a.Taken, Limits: ReachedLimits(a.Limits, now)}
	if !a.At.IsZero() {
		p.WaitMs = milliseconds(a.At.Sub(now))
	}
	return p
}

// ToAllowance is the inverse of Allowance.
func ToAllowance(p *pb.AllowanceReply, now time.Time) allowance.Answer {
	return allowance.Answer{Taken: p.GetTaken(), At: now.Add(ofMilliseconds(p.GetWaitMs())), Limits: ToReachedLimits(p.GetLimits(), now)}
}

// ReachedLimits returns the messages of limits.
func ReachedLimits(all []allowance.Limit, now time.Time) []*pb.ReachedLimit {
	return each(all, func(l allowance.Limit) *pb.ReachedLimit {
		return &pb.ReachedLimit{Resource: l.Resource, ForMs: milliseconds(l.Until.Sub(now)), Words: l.Words,
			Hour: uint32(min(max(l.Hour, 0), math.MaxInt32))}
	})
}

// ToReachedLimits is the inverse of ReachedLimits.
func ToReachedLimits(p []*pb.ReachedLimit, now time.Time) []allowance.Limit {
	return each(p, func(l *pb.ReachedLimit) allowance.Limit {
		return allowance.Limit{Resource: l.GetResource(), Until: now.Add(ofMilliseconds(l.GetForMs())), Words: l.GetWords(),
			Hour: int(min(l.GetHour(), math.MaxInt32))}
	})
}

// milliseconds returns d as a message has it, a part of a millisecond as a whole one: nothing
// is sooner on the other side.
func milliseconds(d time.Duration) uint32 {
	if d <= 0 {
		return 0
	}
	return uint32(min((d-1)/time.Millisecond+1, math.MaxUint32))
}

func ofMilliseconds(n uint32) time.Duration { return time.Duration(n) * time.Millisecond }
