package api

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/projection"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// maxCounts bounds the counts in a reply; only very many repositories reach it.
const maxCounts = 2000

func (s *Server) counts(ctx context.Context, r request) (proto.Message, *pb.Refusal) {
	q := new(pb.CountsRequest)
	if no := r.decode(q); no != nil {
		return nil, no
	}
	if err := s.Engine.Ready(ctx); err != nil {
		return nil, refusal(err)
	}
	reply := &pb.CountsReply{Seq: s.Engine.Position()}
	reply.Counts = countsOf(s.Engine.Counts(), q)
	if len(reply.Counts) > maxCounts {
		return nil, invalid("there are %d counts, want at most %d: name a repository", len(reply.Counts), maxCounts)
	}
	return reply, nil
}

// countsOf sums the groups that q asks for.
func countsOf(groups map[projection.Group]int, q *pb.CountsRequest) (all []*pb.Count) {
	sums := map[projection.Group]*pb.Count{}
	for g, n := range groups {
		if q.GetRepo() != "" && q.GetRepo() != g.Repo {
			continue
		}
		key := projection.Group{Workflow: g.Workflow, State: g.State, Kind: g.Kind, Worker: g.Worker, Closed: g.Closed}
		if q.GetByRepo() {
			key.Repo = g.Repo
		}
		sum := sums[key]
		if sum == nil {
			sum = &pb.Count{Workflow: g.Workflow, State: g.State, Kind: string(g.Kind), Worker: g.Worker, Closed: string(g.Closed), Repo: key.Repo}
			sums[key] = sum
			all = append(all, sum)
		}
		sum.Instances += int64(n)
		for _, flag := range []struct {
			on  bool
			sum *int64
		}{
			{g.Waiting, &sum.Waiting}, {g.Failing, &sum.Failing}, {g.Escalated, &sum.Escalated}, {g.Unproven, &sum.Unproven}, {g.Paused, &sum.Paused},
		} {
			if flag.on {
				*flag.sum += int64(n)
			}
		}
	}
	slices.SortFunc(all, func(a, b *pb.Count) int {
		return cmp.Or(strings.Compare(a.Workflow, b.Workflow), strings.Compare(a.State, b.State), strings.Compare(a.Closed, b.Closed),
			strings.Compare(a.Worker, b.Worker), strings.Compare(a.Repo, b.Repo))
	})
	return all
}
