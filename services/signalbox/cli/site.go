package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/eventstore/backup"
	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/embedded"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// examining is what commands have that look at a log as it is, whole or not.
type examining struct {
	running
	Data      string `name:"data" env:"-" type:"existingdir" placeholder:"DIR" help:"The log of a system that does not run: the --data of up, demo or resolve, or the store_dir of a nats-server. A copy of it is read."`
	Watermark string `name:"watermark" type:"existingfile" placeholder:"FILE" help:"The orchestrator's --watermark; with --data, the watermark in DIR is used by default."`
}

// site is where a log is.
type site struct {
	js        jetstream.JetStream
	watermark string // a file; empty: beside the log
	at        string // for people
}

// beside are the streams that tell of the log or go with it.
var beside = []string{
	subject.EventStream, subject.TimerStream,
	"KV_" + store.DefinitionBucket, "KV_" + store.WatermarkBucket, "KV_" + backup.Cursors, "OBJ_" + store.ObjectBucket,
	"KV_" + store.SnapshotBucket, "OBJ_" + store.SnapshotParts,
}

// visit calls f with the place that the call means. A stopped store is copied
// first: a server that starts on a damaged one cuts it off where the damage is.
func (e examining) visit(ctx context.Context, env *term.Env, f func(context.Context, site) error) (err error) {
	if e.Data == "" {
		s, err := e.connect(ctx, env)
		if err != nil {
			return err
		}
		defer s.nats.Close()
		js, err := jetstream.New(s.nats)
		if err != nil {
			return err
		}
		return f(ctx, site{js, e.Watermark, s.at})
	}
	copied, err := os.MkdirTemp("", "signalbox-log-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(copied)) }()
	if err := e.copy(copied); err != nil {
		return err
	}
	quiet := service.Logging{Level: "error", Format: env.Logging.Format}.Logger(env.Stderr)
	return host(copied, embedded.Config{Sync: time.Minute, Log: quiet}, func(js jetstream.JetStream) error {
		return f(ctx, site{js, e.mark(), e.Data})
	})
}

// host runs a server on a store for as long as f takes.
func host(dir string, c embedded.Config, f func(jetstream.JetStream) error) error {
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

func (e examining) mark() string {
	file := filepath.Join(e.Data, "watermark")
	if _, err := os.Stat(file); e.Watermark != "" || err != nil {
		return e.Watermark
	}
	return file
}

// copy copies the streams of a store that nobody works on.
func (e examining) copy(to string) error {
	from := filepath.Join(e.Data, "log")
	if _, err := os.Stat(from); err != nil {
		from = e.Data
	}
	accounts, err := filepath.Glob(filepath.Join(from, "jetstream", "*", "streams"))
	if err != nil {
		return err
	}
	if len(accounts) == 0 && e.mark() == "" {
		return service.Usagef("--data %s: there is no log, want the --data of an up, demo or resolve, or the store_dir of a nats-server", e.Data)
	}
	hold, err := embedded.Hold(from)
	if err != nil {
		return err
	}
	defer hold.Close()
	for _, account := range accounts {
		for _, stream := range beside {
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
