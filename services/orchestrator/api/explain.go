package api

import (
	"context"
	"math"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/standing"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// explain answers why an instance stands where it is. The commits since it entered its state have the faults and the refusals.
func (s *Server) explain(ctx context.Context, r request) (proto.Message, *pb.Refusal) {
	q := new(pb.ExplainRequest)
	if no := r.decode(q); no != nil {
		return nil, no
	}
	if err := subject.CheckInstance(q.GetInstance()); err != nil {
		return nil, invalid("instance: %v", err)
	}
	in, err := s.Engine.Get(ctx, q.GetInstance())
	if err != nil {
		return nil, refusal(err)
	}
	def, err := s.Engine.Definitions.Hashed(ctx, in.Definition)
	if err != nil {
		return nil, refusal(err)
	}
	stored, _, err := s.Store.Page(ctx, in.ID, eventstore.Part{After: max(in.Entered, 1) - 1, Size: math.MaxInt})
	if err != nil {
		return nil, refusal(err)
	}
	commits := make([]instance.Commit, len(stored))
	for i, c := range stored {
		if commits[i], err = wire.ToCommit(c); err != nil {
			return nil, refusal(err)
		}
	}
	now := time.Now()
	reply := wire.Explanation(standing.Explain(def, in, standing.PastOf(in, commits), now), now)
	state, _ := def.State(in.State)
	reply.Instance, reply.State, reply.About, reply.Seq = in.ID, in.State, def.Text(state.About), in.Seq
	reply.NextDeadline = wire.NextDeadline(def, in).GetAt()
	return reply, nil
}
