package api

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// answerer returns the reply to a query, or a refusal.
type answerer func(context.Context, request) (proto.Message, *pb.Refusal)

// query returns the endpoint of a query. refused makes the reply that holds a refusal.
func (s *Server) query(name string, answer answerer, refused func(*pb.Refusal) proto.Message) endpoint {
	return s.endpointOn(s.workers, name, must(subject.API(name)), answer, refused)
}

func (s *Server) get(ctx context.Context, r request) (proto.Message, *pb.Refusal) {
	q := new(pb.GetRequest)
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
	reply := &pb.GetReply{Instance: s.instanceMessage(ctx, in)}
	if repo, ok := learning.Repo(in.ID); ok && in.Workflow == learning.Workflow {
		known, err := s.learnings(ctx, repo)
		if err != nil {
			return nil, refusal(err)
		}
		reply.Instance.Notes, reply.Learnings = nil, wire.Learnings(known[:min(len(known), maxLearnings)]) // the history has the notes
	}
	return reply, nil
}

const (
	pageSize     = 100       // default number of instances in a page of a list
	maxPageSize  = 1000      // and its maximum
	maxLearnings = 500       // in one reply, those that count first
	maxPage      = 512 << 10 // bytes of a page; a single larger item is a page of its own
)

func (s *Server) list(ctx context.Context, r request) (proto.Message, *pb.Refusal) {
	q := new(pb.ListRequest)
	if no := r.decode(q); no != nil {
		return nil, no
	}
	limit := min(int(q.GetLimit()), maxPageSize)
	if limit <= 0 {
		limit = pageSize
	}
	found, more, err := s.Engine.Select(ctx, projection.Selection{
		After: q.GetAfter(), Limit: limit, Closed: mayBeClosed(q), Keep: matcher(q, time.Now()),
	})
	if err != nil {
		return nil, refusal(err)
	}
	reply, size := new(pb.ListReply), 0
	for i, in := range found {
		summary := wire.Summary(in)
		if size += r.size(summary); size > maxPage && i > 0 {
			more = true
			break
		}
		reply.Instances = append(reply.Instances, summary)
	}
	if more {
		reply.Next = found[len(reply.Instances)-1].ID
	}
	return reply, nil
}

func (s *Server) history(ctx context.Context, r request) (proto.Message, *pb.Refusal) {
	q := new(pb.HistoryRequest)
	if no := r.decode(q); no != nil {
		return nil, no
	}
	if err := subject.CheckInstance(q.GetInstance()); err != nil {
		return nil, invalid("instance: %v", err)
	}
	commits, more, err := s.Store.Page(ctx, q.GetInstance(), eventstore.Part{After: q.GetAfter(), Until: q.GetUntil(), Size: maxPage})
	if errors.Is(err, eventstore.ErrUnknown) {
		err = &instance.Refusal{Code: instance.CodeUnknownInstance, Instance: q.GetInstance(), What: "no such instance"}
	}
	if err != nil {
		return nil, refusal(err)
	}
	reply, size := &pb.HistoryReply{More: more}, 0
	for _, c := range commits {
		if wire.Beyond(q, c) {
			reply.More = false
			break
		}
		record, err := wire.Record(c)
		if err != nil {
			return nil, refusal(err)
		}
		if size += r.size(record); size > maxPage && len(reply.Commits) > 0 {
			reply.More = true
			break
		}
		reply.Commits = append(reply.Commits, record)
	}
	return reply, nil
}

func (s *Server) definition(ctx context.Context, r request) (proto.Message, *pb.Refusal) {
	q := new(pb.DefinitionRequest)
	if no := r.decode(q); no != nil {
		return nil, no
	}
	if q.GetName() == "" {
		return &pb.DefinitionReply{Names: s.Definitions.Names()}, nil
	}
	source, hash, err := s.Definitions.Source(ctx, q.GetName())
	if err != nil {
		return nil, &pb.Refusal{Code: string(instance.CodeUnknownInstance), Message: err.Error(), Allowed: s.Definitions.Names()}
	}
	return &pb.DefinitionReply{Name: q.GetName(), Hash: hash, Source: source}, nil
}
