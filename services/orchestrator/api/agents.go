package api

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalbox/signalbox/pkg/engine/projection"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// maxWorking bounds the agents at work that a reply lists of a role.
const maxWorking = 200

func (s *Server) agents(ctx context.Context, r request) (proto.Message, *pb.Refusal) {
	if no := r.decode(new(pb.AgentsRequest)); no != nil {
		return nil, no
	}
	w := roleWork{now: time.Now(), of: map[string]*pb.RoleWork{}}
	if _, _, err := s.Engine.Select(ctx, projection.Selection{Keep: w.add}); err != nil {
		return nil, refusal(err)
	}
	waiting := []map[string]int{s.Engine.Idle()}
	if s.Waiting != nil {
		waiting = append(waiting, s.Waiting())
	}
	for _, all := range waiting {
		for role, n := range all {
			if n > 0 {
				w.role(role).Idle += int64(n)
			}
		}
	}
	return &pb.AgentsReply{Roles: w.sorted()}, nil
}

// roleWork is what each role has to do.
type roleWork struct {
	now time.Time
	of  map[string]*pb.RoleWork
}

func (w roleWork) role(name string) *pb.RoleWork {
	if w.of[name] == nil {
		w.of[name] = &pb.RoleWork{Role: name}
	}
	return w.of[name]
}

// add adds the work of an instance. It selects none.
func (w roleWork) add(row *projection.Row) bool {
	in := row.Instance()
	switch {
	case row.Worker == "" || row.Closed != "":
	case in.Claim.Live(w.now):
		role := w.role(row.Worker)
		role.Busy++
		role.Working = append(role.Working, &pb.Working{Agent: in.Claim.Agent, Instance: row.ID(), State: row.State,
			Since: timestamppb.New(in.Claim.At), Lease: timestamppb.New(in.Claim.Lease)})
	case in.Work > 0 && !in.Paused && in.Parked == nil:
		role := w.role(row.Worker)
		role.Queued++
		if role.Oldest == nil || in.UpdatedAt.Before(role.Oldest.AsTime()) {
			role.Oldest = timestamppb.New(in.UpdatedAt)
		}
	}
	return false
}

// sorted returns the roles by name. Those at work the longest come first.
func (w roleWork) sorted() (all []*pb.RoleWork) {
	for _, name := range slices.Sorted(maps.Keys(w.of)) {
		role := w.of[name]
		slices.SortFunc(role.Working, func(a, b *pb.Working) int {
			return cmp.Or(a.Since.AsTime().Compare(b.Since.AsTime()), strings.Compare(a.Instance, b.Instance))
		})
		role.Working = role.Working[:min(len(role.Working), maxWorking)]
		all = append(all, role)
	}
	return all
}
