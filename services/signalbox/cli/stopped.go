package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/eventstore"
	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/embedded"
	"github.com/signalbox/signalbox/pkg/wire"
	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/orchestrator/api"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// reading is what commands have that only read: from a running system, or from
// the log of a stopped one.
type reading struct {
	running
	Data string `name:"data" env:"-" type:"existingdir" placeholder:"DIR" help:"Read the log of a system that does not run: the --data of up, demo or resolve."`
}

// reader answers what there is to read. client.Client is one.
type reader interface {
	Get(ctx context.Context, id string) (*pb.Instance, error)
	List(ctx context.Context, q *pb.ListRequest) ([]*pb.Summary, error)
	History(ctx context.Context, id string, after uint64) ([]*pb.Record, error)
	Definition(ctx context.Context, hash string) (*pb.DefinitionReply, error)
}

// read calls f with what there is to read from.
func (r reading) read(ctx context.Context, env *term.Env, f func(context.Context, reader) error) error {
	if r.Data == "" {
		return r.ask(ctx, env, func(ctx context.Context, s system) error { return f(ctx, s) })
	}
	dir := filepath.Join(r.Data, "log")
	if _, err := os.Stat(filepath.Join(dir, "jetstream")); err != nil {
		return service.Usagef("--data %s: there is no log, want the --data of an up, demo or resolve", r.Data)
	}
	quiet := service.Logging{Level: "error", Format: env.Logging.Format}.Logger(env.Stderr)
	server, err := embedded.Start(embedded.Config{Dir: dir, Log: quiet})
	if err != nil {
		return err
	}
	defer server.Shutdown()
	nc, err := server.Connect()
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	log, err := store.Open(ctx, js, store.Config{})
	if err != nil {
		return fmt.Errorf("the log in %s: %w", dir, err)
	}
	return errors.Join(f(ctx, stopped{log, js}), log.Close(ctx))
}

// stopped is the log of a system that does not run. It is folded here, as the
// orchestrator folds it.
type stopped struct {
	eventstore.Store
	js jetstream.JetStream
}

func (l stopped) load(ctx context.Context, id string) ([]eventstore.Commit, error) {
	commits, err := l.Load(ctx, id)
	if errors.Is(err, eventstore.ErrUnknown) {
		err = &instance.Refusal{Code: instance.CodeUnknownInstance, Instance: id, What: "no such instance"}
	}
	return commits, err
}

// Get implements reader.
func (l stopped) Get(ctx context.Context, id string) (*pb.Instance, error) {
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
	return wire.Standing(def, in, time.Now()), nil
}

func evolve(in instance.Instance, c eventstore.Commit) (instance.Instance, error) {
	commit, err := wire.ToCommit(c)
	return instance.Evolve(in, commit), err
}

// History implements reader.
func (l stopped) History(ctx context.Context, id string, after uint64) ([]*pb.Record, error) {
	commits, err := l.load(ctx, id)
	if err != nil {
		return nil, err
	}
	var all []*pb.Record
	for _, c := range commits {
		r, err := wire.Record(c)
		if err != nil {
			return nil, err
		}
		if c.Seq > after {
			all = append(all, r)
		}
	}
	return all, nil
}

// List implements reader. Nobody works where nothing runs: stuck are all that
// somebody should work on.
func (l stopped) List(ctx context.Context, q *pb.ListRequest) ([]*pb.Summary, error) {
	reading, enough := context.WithCancel(ctx)
	defer enough()
	all := map[string]instance.Instance{}
	err := l.Read(reading, 1, func(c eventstore.Commit) (err error) {
		in := all[c.Instance]
		in.ID = c.Instance
		all[c.Instance], err = evolve(in, c)
		return err
	}, enough)
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

// wanted is what a running system would list; only what is stuck is another
// matter where nobody is there to work.
func wanted(q *pb.ListRequest, in instance.Instance, now time.Time) bool {
	others := proto.CloneOf(q)
	others.Stuck = false
	idle := in.Closed == "" && (in.Paused || in.Worker() != "" && in.Parked == nil)
	return api.Wanted(others, in, now) && (!q.GetStuck() || idle || api.Wanted(q, in, now))
}

// Definition implements reader.
func (l stopped) Definition(ctx context.Context, hash string) (*pb.DefinitionReply, error) {
	kv, err := l.js.KeyValue(ctx, store.DefinitionBucket)
	if err != nil {
		return nil, err
	}
	entry, err := kv.Get(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("definition %s: %w", hash, err)
	}
	return &pb.DefinitionReply{Name: hash, Hash: hash, Source: entry.Value()}, nil
}
