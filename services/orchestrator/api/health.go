package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// The states of a check.
const (
	OK   = "ok"
	Warn = "warn"
	Fail = "fail"
)

// maxLimits bounds the limits of the forge that a reply has.
const maxLimits = 20

// health answers how the system is.
func (s *Server) health(ctx context.Context, r request) (proto.Message, *pb.Refusal) {
	if no := r.decode(new(pb.HealthRequest)); no != nil {
		return nil, no
	}
	all := s.allowances.checks(time.Now())
	if s.Health != nil {
		all = append(all, s.Health(ctx)...)
	}
	order := []string{Fail, Warn, OK}
	slices.SortFunc(all, func(a, b *pb.HealthCheck) int {
		return cmp.Or(slices.Index(order, a.GetStatus())-slices.Index(order, b.GetStatus()), strings.Compare(a.GetCheck(), b.GetCheck()), strings.Compare(a.GetDetail(), b.GetDetail()))
	})
	return &pb.HealthReply{Checks: all}, nil
}

// checks returns the limits of the forge that are reached.
func (a *allowances) checks(now time.Time) (all []*pb.HealthCheck) {
	a.mu.Lock()
	limits, holders := a.book.Reached(now)
	a.mu.Unlock()
	for _, l := range limits[:min(len(limits), maxLimits)] {
		all = append(all, &pb.HealthCheck{Check: "forge", Status: Warn,
			Detail: fmt.Sprintf("the limit of %s is reached until %s: %s", cmp.Or(l.Resource, "all requests"), l.Until.UTC().Format("15:04 UTC"), l.Words),
			Advice: "work that needs it goes on by itself then; an App has limits of its own for each owner"})
	}
	if all == nil {
		detail := "no limit is reached"
		if holders == 0 {
			detail = "nobody has asked for a place within its limits yet"
		}
		all = []*pb.HealthCheck{{Check: "forge", Status: OK, Detail: detail}}
	}
	return all
}
