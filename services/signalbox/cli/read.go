package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/pkg/engine/client"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/embedded"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/resolve"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// reading has the flags of the commands that only read: from a running system, or from
// the log of a stopped one.
type reading struct {
	running
	Data string `name:"data" env:"-" type:"existingdir" placeholder:"DIR" help:"Read the log of a system that does not run: the --data of up, demo or resolve."`
}

// reader answers queries. system and stoppedLog implement it.
type reader interface {
	Get(ctx context.Context, id string) (*pb.Instance, error)
	List(ctx context.Context, q *pb.ListRequest) ([]*pb.Summary, error)
	History(ctx context.Context, id string, after uint64) ([]*pb.Record, error)
	Past(ctx context.Context, q *pb.HistoryRequest) ([]*pb.Record, error)
	Definition(ctx context.Context, hash string) (*pb.DefinitionReply, error)
	Definitions(ctx context.Context) ([]*workflow.Definition, error)
	GetObject(ctx context.Context, h client.Holder, name string) (io.ReadCloser, error)
}

// definitionOf returns the definition that the instance is under.
func definitionOf(ctx context.Context, s reader, in *pb.Instance) (*workflow.Definition, error) {
	reply, err := s.Definition(ctx, in.GetDefinition())
	if err != nil {
		return nil, err
	}
	def, err := workflow.Load(in.GetWorkflow(), reply.GetSource())
	if err != nil {
		return nil, fmt.Errorf("the definition of %s: %w", in.GetInstance(), err)
	}
	return def, nil
}

// read calls f with a reader for the running system or, with --data, the stopped one.
func (r reading) read(ctx context.Context, env *term.Env, f func(context.Context, reader) error) error {
	if r.Data == "" {
		err := r.call(ctx, env, func(ctx context.Context, s system) error { return f(ctx, s) })
		if !errors.Is(err, errSilent) {
			return err
		}
		if dir := resolve.Kept(ctx, "."); dir != "" {
			return fmt.Errorf("%w The log of resolve in this repository is read with --data %s", err, term.Quote(dir))
		}
		return err
	}
	dir := filepath.Join(r.Data, "log")
	if _, err := os.Stat(filepath.Join(dir, "jetstream")); err != nil {
		return noLog(r.Data, "the --data of an up, demo or resolve")
	}
	quiet := service.Logging{Level: "error", Format: env.Logging.Format}.Logger(env.Stderr)
	server, err := embedded.Start(embedded.Config{Dir: dir, Log: quiet})
	if errors.Is(err, embedded.ErrLocked) {
		return fmt.Errorf("%w; without --data a running `signalbox up` is asked", err)
	}
	if err != nil {
		return err
	}
	defer server.Shutdown()
	nc, err := server.Connect()
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := access.JetStream(ctx, nc)
	if err != nil {
		return err
	}
	log, err := store.Open(ctx, js, store.Config{})
	if err != nil {
		return fmt.Errorf("the log in %s: %w", dir, err)
	}
	stopped := stoppedLog{log, js}
	return errors.Join(meant(ctx, stopped, f(ctx, stopped)), log.Close(ctx))
}

// noLog returns the error of --data for a directory without a log, or one that cannot be read.
func noLog(dir, want string) error {
	if _, err := os.ReadDir(dir); err != nil {
		return service.Usagef("--data: %w", err)
	}
	return service.Usagef("--data %s: there is no log, want %s", dir, want)
}

// readOne is read for one instance. Where none has the id, and the id is the end of exactly
// one, such as 12 of acme/widgets/12, id becomes that one's.
func (r reading) readOne(ctx context.Context, env *term.Env, id *string, f func(context.Context, reader) error) error {
	return r.read(ctx, env, func(ctx context.Context, s reader) error {
		return completed(ctx, s, id, func() error { return f(ctx, s) })
	})
}

// readingOne has the flags of the commands that read one instance.
type readingOne struct {
	reading
	ID string `arg:"" name:"id" help:"The instance."`
}

// rested returns the instance with the rest that its newest events tell of.
func rested(ctx context.Context, env *term.Env, s reader, in *pb.Instance) (view.Instance, error) {
	one := view.Of(in)
	if in.GetClosed() != "" || in.GetEntered() == 0 {
		return one, nil
	}
	records, err := s.History(ctx, in.GetInstance(), in.GetEntered()-1)
	if err != nil {
		return one, err
	}
	commits := make([]instance.Commit, len(records))
	for i, r := range records {
		commits[i] = wire.Recorded(r)
	}
	return one.Resting(env.Now(), commits), nil
}
