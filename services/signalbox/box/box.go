// Package box is Signalbox in one process: an embedded NATS server, the local
// forge, the orchestrator, the gateway and every role, on one data directory.
//
//	server ─ forge ─┬─ orchestrator ─ gateway ─ pm ─ every other role of its lifecycles
//	                └─ main (what the caller does with it)
package box

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/embedded"
	"github.com/signalbox/signalbox/pkg/workflow"
	gateway "github.com/signalbox/signalbox/services/gateway/app"
	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
	planmanager "github.com/signalbox/signalbox/services/plan-manager/app"
)

// Config says what is in the box.
type Config struct {
	Dir      string        // everything that lasts: log and forge
	Sync     time.Duration // of the log; 0: every event is on disk before it is seen
	Listen   string        // HOST:PORT of NATS for other processes; empty: none
	Flags    service.Flags
	Log      *slog.Logger
	Agents   role.Settings // brains, sandbox, workers
	Workflow string        // new issues open with it
	Dirs     string        // directory of more lifecycles
	AckWait  time.Duration // of a claim's lease; 0: 15 s
	Every    time.Duration // the gateway's polling
	Label    string

	Forge github.Flags      // a forge to work with; no URL: the local one
	Web   string            // HOST:PORT of the local forge; empty: where it was last time
	Login string            // of the person at this machine on it; empty: as the system calls them
	Repos map[string]Source // by owner/name: what the local forge's repositories start from
	Watch []string          // repositories on Forge

	Alone    bool // nobody outside the box works
	Observer agent.Observer
	// Main is what is done with the box; the box ends when it returns. Nil: until ctx ends.
	Main func(ctx context.Context, b *Box) error
}

// Source is a git repository on this machine.
type Source struct {
	Dir    string
	Branch string // only this one; empty: all of them, and the tags
}

// Box is a running box.
type Box struct {
	NATS  *nats.Conn
	URL   string // of NATS for other processes
	Forge *Forge // nil when another forge is used
	Log   *slog.Logger
}

// Run runs the box until Main returns or ctx ends, and then lets every piece
// of work under way end or come back.
func Run(ctx context.Context, c Config) (err error) {
	server, err := embedded.Start(embedded.Config{Dir: filepath.Join(c.Dir, "log"), Sync: c.Sync, Listen: c.Listen, Log: c.Log})
	if err != nil {
		return err
	}
	defer server.Shutdown()
	b := &Box{URL: server.ClientURL(), Log: c.Log}
	if c.Forge.URL == "" {
		if b.Forge, err = openForge(ctx, filepath.Join(c.Dir, "forge"), c.Web, c.Login, c.Repos, c.Log); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.Forge.close()) }()
		c.Forge = github.Flags{URL: b.Forge.API(), Token: b.Forge.bot}
		c.Watch = b.Forge.Repos()
	}
	var said error // Main's own: it is the caller's and no fault of the box
	if c.Main != nil {
		main := c.Main
		c.Main = func(ctx context.Context, b *Box) error { said = main(ctx, b); return nil }
	}
	err = service.Serve(ctx, service.Config{
		Service: "signalbox", Flags: c.Flags, Log: c.Log,
		Options: []nats.Option{nats.InProcessServer(server)},
		Setup:   func(ctx context.Context, h *service.Host) error { return c.setup(ctx, h, b) },
	})
	return errors.Join(said, err)
}

func (c Config) setup(ctx context.Context, h *service.Host, b *Box) error {
	b.NATS = h.NATS
	if b.Forge != nil {
		h.AddBase("forge", b.Forge.serve)
	}
	defs, err := Definitions(c.Dirs)
	if err != nil {
		return err
	}
	if _, err := workflow.NewCatalog(defs...).Named(c.Workflow); err != nil {
		return service.Usagef("%w", err)
	}
	work := workDir(c.Dir)
	log := orchestrator.Settings{WorkflowDir: c.Dirs, Watermark: filepath.Join(c.Dir, "watermark"), Replicas: 1, Sync: c.Sync, AckWait: cmp.Or(c.AckWait, lease), MaxDeliver: 50}
	if err := log.Setup(ctx, h); err != nil {
		return err
	}
	watch := gateway.Settings{Forge: c.Forge, Repo: c.Watch, Workflow: c.Workflow, Label: c.Label, Every: c.Every}
	if err := watch.Setup(ctx, h); err != nil {
		return err
	}
	if err := c.staff(ctx, h, defs, work); err != nil {
		return err
	}
	if err := (planmanager.Settings{Workflow: "task"}).Setup(ctx, h); err != nil {
		return err
	}
	if c.Main != nil {
		h.Add("main", func(ctx context.Context) error { return c.Main(ctx, b) })
	}
	return nil
}

// workDir is where work trees are kept: not below the data, which may lie in a
// repository of its own, whose go.work or package.json would be taken for theirs.
func workDir(data string) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return filepath.Join(data, "work")
	}
	abs, err := filepath.Abs(data)
	if err != nil {
		abs = data
	}
	key := sha256.Sum256([]byte(abs))
	return filepath.Join(cache, "signalbox", "work", hex.EncodeToString(key[:6]))
}

// lease is how long an agent of the box may be silent. In one process that is a
// sign of trouble soon; and after a kill the next start need not wait long.
const lease = 15 * time.Second
