package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/api"
)

// stoppedLog is a reader of the log of a stopped system. It folds the log as the
// orchestrator does.
type stoppedLog struct {
	eventstore.Store
	js jetstream.JetStream
}

// load returns the commits of an instance. It returns the orchestrator's refusal if
// there is no such instance.
func (l stoppedLog) load(ctx context.Context, id string) ([]eventstore.Commit, error) {
	commits, err := l.Load(ctx, id)
	if errors.Is(err, eventstore.ErrUnknown) {
		err = &instance.Refusal{Code: instance.CodeUnknownInstance, Instance: id, What: "no such instance"}
	}
	return commits, err
}

// Get implements reader.
func (l stoppedLog) Get(ctx context.Context, id string) (*pb.Instance, error) {
	commits, err := l.load(ctx, id)
	if err != nil {
		return nil, err
	}
	in := instance.Instance{ID: id}
	for _, c := range commits {
		if in, err = evolve(in, c); err != nil {
			return nil, err
		}
	}
	reply, err := l.Definition(ctx, in.Definition)
	if err != nil {
		return nil, err
	}
	def, err := workflow.Load(in.Workflow, reply.GetSource())
	if err != nil {
		return nil, err
	}
	return wire.WithDeadlines(def, in, time.Now()), nil
}

// evolve decodes a commit and applies it to an instance.
func evolve(in instance.Instance, c eventstore.Commit) (instance.Instance, error) {
	commit, err := wire.ToCommit(c)
	return instance.Evolve(in, commit), err
}

// GetObject implements reader.
func (l stoppedLog) GetObject(ctx context.Context, _ client.Holder, name string) (io.ReadCloser, error) {
	objects, err := store.OpenObjects(ctx, l.js, store.ObjectBucket)
	if err != nil {
		return nil, err
	}
	return objects.Get(ctx, name)
}

// History implements reader.
func (l stoppedLog) History(ctx context.Context, id string, after uint64) ([]*pb.Record, error) {
	return l.Past(ctx, &pb.HistoryRequest{Instance: id, After: after})
}

// Past implements reader.
func (l stoppedLog) Past(ctx context.Context, q *pb.HistoryRequest) (all []*pb.Record, err error) {
	commits, err := l.load(ctx, q.GetInstance())
	for _, c := range commits {
		if c.Seq <= q.GetAfter() || wire.Beyond(q, c) {
			continue
		}
		r, err := wire.Record(c)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, err
}

// List implements reader. Since no agent runs, all instances with work count as stuck.
func (l stoppedLog) List(ctx context.Context, q *pb.ListRequest) ([]*pb.Summary, error) {
	limited, stop := context.WithCancel(ctx)
	defer stop()
	all := map[string]instance.Instance{}
	err := l.Read(limited, 1, func(c eventstore.Commit) (err error) {
		in := all[c.Instance]
		in.ID = c.Instance
		all[c.Instance], err = evolve(in, c)
		return err
	}, stop)
	if err != nil && (ctx.Err() != nil || !errors.Is(err, context.Canceled)) {
		return nil, err
	}
	now := time.Now()
	var found []*pb.Summary
	for _, in := range all {
		if wanted(q, in, now) {
			found = append(found, wire.Summary(in))
		}
	}
	slices.SortFunc(found, func(a, b *pb.Summary) int { return strings.Compare(a.Instance, b.Instance) })
	return found, nil
}

// wanted reports whether a query selects an instance, as the orchestrator does. For
// --stuck it also selects instances that have work.
func wanted(q *pb.ListRequest, in instance.Instance, now time.Time) bool {
	others := proto.CloneOf(q)
	others.Stuck = false
	idle := in.Closed == "" && (in.Paused || in.Worker() != "" && in.Parked == nil)
	return api.Matches(others, in, now) && (!q.GetStuck() || idle || api.Matches(q, in, now))
}

// Definition implements reader.
func (l stoppedLog) Definition(ctx context.Context, hash string) (*pb.DefinitionReply, error) {
	kv, err := l.js.KeyValue(ctx, store.DefinitionBucket)
	if err != nil {
		return nil, err
	}
	entry, err := kv.Get(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("definition %s: %w", hash, err)
	}
	if err := workflow.CheckHash(hash, entry.Value()); err != nil {
		return nil, err
	}
	return &pb.DefinitionReply{Name: hash, Hash: hash, Source: entry.Value()}, nil
}

// Definitions implements reader: all that instances were opened with.
func (l stoppedLog) Definitions(ctx context.Context) ([]*workflow.Definition, error) {
	hashes, err := store.ListDefinitions(ctx, l.js)
	if err != nil {
		return nil, err
	}
	var all []*workflow.Definition
	for _, hash := range hashes {
		reply, err := l.Definition(ctx, hash)
		if err != nil {
			return nil, err
		}
		d, err := workflow.Load(hash, reply.GetSource())
		if err != nil {
			return nil, fmt.Errorf("definition %s: %w", hash, err)
		}
		all = append(all, d)
	}
	return all, nil
}
