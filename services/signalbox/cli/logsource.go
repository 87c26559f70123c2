package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/backup"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/embedded"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// logFlags has the flags of the commands that read a raw log, damaged or not.
type logFlags struct {
	running
	Data      string `name:"data" env:"-" type:"existingdir" placeholder:"DIR" help:"The log of a system that does not run: the --data of up, demo or resolve, or the store_dir of a nats-server. A copy of it is read."`
	Watermark string `name:"watermark" type:"existingfile" placeholder:"FILE" help:"The orchestrator's --watermark; with --data, the watermark in DIR is used by default."`
}

// logSource is a server that has the log.
type logSource struct {
	js        jetstream.JetStream
	watermark string // file of the watermark; empty: the bucket next to the log
	at        string // name for messages
}

// logStreams lists the log and the streams that belong to it.
var logStreams = []string{
	subject.EventStream, subject.TimerStream,
	"KV_" + store.DefinitionBucket, "KV_" + store.WatermarkBucket, "KV_" + backup.Cursors, "OBJ_" + store.ObjectBucket,
	"KV_" + store.SnapshotBucket, "OBJ_" + store.SnapshotParts,
}

// openLog calls f with the log of the running server or, with --data, of a stopped one.
// It copies a stopped store: a server that starts on a damaged store truncates it.
func (e logFlags) openLog(ctx context.Context, env *term.Env, f func(context.Context, logSource) error) (err error) {
	if e.Data == "" {
		s, err := e.connect(ctx, env)
		if err != nil {
			return err
		}
		defer s.nats.Close()
		js, err := access.JetStream(ctx, s.nats)
		if p, ok := access.Connected(ctx, s.nats); err == nil && ok && p.Kind != access.Admin && p.Kind != access.Orchestrator {
			err = fmt.Errorf("%s %w", p, access.ErrNoJetStream) // a service's account reaches a part of it
		}
		if err != nil {
			return err
		}
		return f(ctx, logSource{js, e.Watermark, s.at})
	}
	copied, err := os.MkdirTemp("", "signalbox-log-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(copied)) }()
	if err := e.copyStreams(copied); err != nil {
		return err
	}
	quiet := service.Logging{Level: "error", Format: env.Logging.Format}.Logger(env.Stderr)
	return withServer(copied, embedded.Config{Sync: time.Minute, Log: quiet}, func(js jetstream.JetStream) error {
		return f(ctx, logSource{js, e.watermark(), e.Data})
	})
}

// ahead is how many messages are handed over at a time.
const ahead = 256

// readAhead calls f with each message of a log, in their order, while the next ones are read. All that come before a fault
// reach f.
func readAhead(ctx context.Context, log *store.AuditReader, f func(store.Message) error) error {
	read := make(chan []store.Message, 4)
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error {
		defer close(read)
		var next []store.Message
		send := func() error {
			select {
			case read <- next:
				next = make([]store.Message, 0, ahead)
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		err := log.Read(ctx, 1, func(m store.Message) error {
			if next = append(next, m); len(next) < ahead {
				return nil
			}
			return send()
		})
		return cmp.Or(err, send())
	})
	both.Go(func() error {
		for some := range read {
			for _, m := range some {
				if err := f(m); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return both.Wait()
}

// collectSeldom lets the garbage collector run less often, unless GOGC is set: it suits a command that makes much garbage
// of a log and keeps little.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300)
	}
}

// withServer runs a server on the store in dir while f runs.
func withServer(dir string, c embedded.Config, f func(jetstream.JetStream) error) error {
	c.Dir = dir
	server, err := embedded.Start(c)
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
	return f(js)
}

// watermark returns --watermark, or the watermark file in --data if there is one.
func (e logFlags) watermark() string {
	file := filepath.Join(e.Data, "watermark")
	if _, err := os.Stat(file); e.Watermark != "" || err != nil {
		return e.Watermark
	}
	return file
}

// copyStreams copies the streams of a store that no server uses.
func (e logFlags) copyStreams(to string) error {
	from := filepath.Join(e.Data, "log")
	if _, err := os.Stat(from); err != nil {
		from = e.Data
	}
	accounts, err := filepath.Glob(filepath.Join(from, "jetstream", "*", "streams"))
	if err != nil {
		return err
	}
	if len(accounts) == 0 && e.watermark() == "" {
		return noLog(e.Data, "the --data of an up, demo or resolve, or the store_dir of a nats-server")
	}
	hold, err := embedded.Hold(from)
	if err != nil {
		return err
	}
	defer hold.Close()
	for _, account := range accounts {
		for _, stream := range logStreams {
			dir := filepath.Join(account, stream)
			if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err := os.CopyFS(filepath.Join(to, "jetstream", "$G", "streams", stream), os.DirFS(dir)); err != nil {
				return fmt.Errorf("copy %s, to read it: %w", dir, err)
			}
		}
	}
	return nil
}
