// Package allinone runs Signalbox in one process: an embedded NATS server, the
// local forge, the orchestrator, the gateway and every role, on one data directory.
//
//	server ─ forge ─┬─ orchestrator ─ gateway ─ pm ─ every other role of its lifecycles
//	                └─ main (what the caller does with it)
package allinone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/engine/attestation"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/embedded"
	"github.com/signalbox/signalbox/pkg/service/httpserver"
	console "github.com/signalbox/signalbox/services/console/app"
	gateway "github.com/signalbox/signalbox/services/gateway/app"
	notify "github.com/signalbox/signalbox/services/notify/app"
	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
	planmanager "github.com/signalbox/signalbox/services/plan-manager/app"
	pm "github.com/signalbox/signalbox/services/pm/app"
)

// Config configures a System.
type Config struct {
	Dir      string        // of everything that is kept: log and forge
	Sync     time.Duration // interval between flushes of the log; 0: each append is flushed before its acknowledgement
	Listen   string        // HOST:PORT where NATS listens for other processes; empty: it does not listen
	Flags    service.Flags
	Log      *slog.Logger
	Agents   role.Settings // brains, sandbox, workers
	Workflow string        // lifecycle of new issues
	Dirs     string        // directory of additional lifecycles
	Budgets  []string      // what a day may cost, as --budget of the orchestrator
	AckWait  time.Duration // length of a claim's lease; 0: 15 s
	Every    time.Duration // the gateway's polling interval
	Webhook  gateway.Webhook
	// AtOnce is how much may be under way at a time, as the orchestrator's flag.
	AtOnce []string
	// Lifecycles are those that a repository may choose for its issues in addition to Workflow.
	Lifecycles []string
	Label      string
	All        bool             // take up issues, too, that were open before; those of the local forge always are
	Intake     gateway.Intake   // whose issues and words are taken; empty: gateway.DefaultIntake
	Status     pm.Status        // how issues show how they stand; empty: they do not
	Commands   gateway.Commands // in comments; empty: there are none

	Forge github.Flags      // the forge to use; without a URL: the local one
	Web   string            // HOST:PORT of the local forge; empty: the address of the last run
	Open  bool              // anybody who reaches the local forge may read it
	Cert  string            // file of the certificate that the local forge is served with at Web; empty: no TLS
	Key   string            // file of its key
	Plain bool              // the local forge may be served beyond this machine without TLS
	Login string            // login on it of the person at this machine; empty: from their system account
	Repos map[string]Source // initial repositories of the local forge, by owner/name
	Watch []string          // repositories on Forge to poll

	// Console is HOST:PORT where the console is served; empty: there is none. Operator is the
	// person in whose name it acts, "operator:ann".
	Console  string
	Operator string
	// Notify is the file of targets that are notified; empty: none is.
	Notify string
	// Desktop is the terminal that shows notifications on the desktop; nil: none does.
	Desktop io.Writer

	Alone    bool // no agents run outside this process
	Observer agent.Observer
	// Main is called when all parts are ready. The system stops when it returns;
	// if it is nil, when ctx ends.
	Main func(ctx context.Context, s *System) error
	// Held roles take no work before Main calls System.Begin.
	Held bool
}

// linkFile is the file of the data directory that has a link which signs in to the console.
const linkFile = "console.link"

// lease is the default of Config.AckWait. It is short, so that the next start after
// a kill does not wait long for the leases of the killed agents to lapse.
const lease = 15 * time.Second

// Source is a git repository on this machine.
type Source struct {
	Dir    string
	Branch string // only this one; empty: all of them, and the tags
}

// System is a running system. Only Main gets it.
type System struct {
	NATS  *nats.Conn
	URL   string // of NATS, for other processes
	Login string // path of the password of service.LocalUser, for other processes of this person
	Forge *Forge // nil if Config.Forge has a URL
	Log   *slog.Logger
	// Console is the console; nil: there is none.
	Console *console.Console
	// Sandbox is how brains and tests are confined.
	Sandbox sandbox.Sandbox

	// Begin has held roles take work.
	Begin func()

	as func(access.Party) []nats.Option // options of a connection of the party
}

// Run runs a system, each part of it in an account of its own, until Main returns or ctx ends. Then it waits until work in
// progress has been reported or released. It returns the error of Main, joined
// with that of the shutdown.
func Run(ctx context.Context, c Config) (err error) {
	defs, err := Definitions(c.Dirs)
	if err != nil {
		return err
	}
	if err := c.Agents.CheckBrains(ThinkingRoles(defs...), defs); err != nil {
		return service.Usagef("%w", err)
	}
	keys, err := access.NewKeys(access.Services(Roles(defs...)...)...)
	if err != nil {
		return err
	}
	box, err := sandbox.New(ctx, sandbox.Mode(c.Agents.Sandbox))
	if err != nil {
		return service.Usagef("%w", err)
	}
	c.Agents.Box, c.Agents.Bases = &box, new(role.Baselines)
	login := service.NewLocalLogin()
	refused := service.NewRefused()
	server, err := embedded.Start(embedded.Config{
		Dir: filepath.Join(c.Dir, "log"), Sync: c.Sync, Listen: c.Listen, User: service.LocalUser, Password: login.Password, Keys: keys,
		Log: c.Log, Refused: refused.At("nats"),
	})
	if err != nil {
		return err
	}
	defer server.Shutdown()
	all, _ := WorkDirs() // without one the work trees are below the data
	held, err := holdWork(all, workDir(c.Dir), time.Now(), c.Log)
	if err != nil {
		return err
	}
	defer held.Close()
	if logs, err := ResolveDirs(); err == nil {
		removeOld(logs, "log", "", time.Now(), c.Log) // its own is locked, if it is one of them
	}
	s := &System{URL: server.ClientURL(), Log: c.Log, Sandbox: box, as: server.As}
	if s.URL != "" {
		if s.Login, err = login.Publish(s.URL); err != nil {
			return service.Usagef("NATS can listen for this person's processes only: %w; for other machines run nats-server and the services", err)
		}
		defer func() { err = errors.Join(err, login.Withdraw()) }()
	}
	if c.Forge.URL == "" {
		if s.Forge, err = c.openForge(ctx, filepath.Join(c.Dir, "forge"), httpserver.NewRefusals(c.Log, refused.At("forge"))); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Forge.close()) }()
		c.Forge = github.Flags{URL: s.Forge.API(), Token: s.Forge.bot}
		c.Watch = s.Forge.Repos()
		if err := c.deliver(s.Forge); err != nil {
			return err
		}
	}
	if err := c.checkCovered(); err != nil {
		return err
	}
	if err := c.share(ctx, s.Forge != nil); err != nil {
		return service.Usagef("%w", err)
	}
	var mainErr error // returned to the caller as it is: it is no failure of an actor
	if c.Main != nil {
		main := c.Main
		c.Main = func(ctx context.Context, s *System) error { mainErr = main(ctx, s); return nil }
	}
	err = service.Serve(ctx, service.Config{
		Service: "signalbox", Flags: c.Flags, Log: c.Log, Refused: refused,
		Options: server.Options(),
		Setup: func(ctx context.Context, h *service.Host) error {
			h.AddBase("store", func(ctx context.Context) error { return server.AwaitStop(ctx, h.Log) })
			return c.setup(ctx, h, s, defs)
		},
	})
	return errors.Join(mainErr, err)
}

func (c Config) setup(ctx context.Context, h *service.Host, s *System, defs []*workflow.Definition) error {
	s.NATS = h.NATS
	if s.Forge != nil {
		for i, at := range s.Forge.doors {
			h.AddBase(fmt.Sprintf("forge-%d", i), at.serve)
		}
	}
	if _, err := workflow.NewCatalog(defs...).Named(c.Workflow); err != nil {
		return service.Usagef("%w", err)
	}
	work := workDir(c.Dir)
	if _, err := attestation.OpenKey(KeyFile(c.Dir)); err != nil {
		return service.Usagef("the key of attestations: %w", err)
	}
	log := orchestrator.Settings{WorkflowDir: c.Dirs, Watermark: filepath.Join(c.Dir, "watermark"), Replicas: 1, Sync: c.Sync,
		AckWait: cmp.Or(c.AckWait, lease), MaxDeliver: 50, Budget: c.Budgets, AtOnce: c.AtOnce, AgentsEnd: true,
		AttestKey: KeyFile(c.Dir)}
	if err := log.Setup(ctx, h); err != nil {
		return err
	}
	watch := gateway.Settings{Forge: c.Forge, Repo: c.Watch, Workflow: c.Workflow, Label: c.Label, Lifecycles: c.Lifecycles, Every: c.Every, Intake: c.Intake, Webhook: c.Webhook, Commands: c.Commands,
		All: c.All || s.Forge != nil}
	if watch.Intake == (gateway.Intake{}) {
		watch.Intake = gateway.DefaultIntake()
	}
	forgeside, err := h.As(ctx, s.as(access.Party{Kind: access.Gateway})...)
	if err != nil {
		return err
	}
	if err := watch.Setup(ctx, forgeside); err != nil {
		return err
	}
	begun := make(chan struct{})
	s.Begin = sync.OnceFunc(func() { close(begun) })
	if !c.Held {
		s.Begin()
	}
	as := func(role string) (*service.Host, error) {
		own, err := h.As(ctx, s.as(access.Party{Kind: access.Agent, Name: role})...)
		if err == nil {
			own.Hold(begun)
		}
		return own, err
	}
	if err := c.addRoles(ctx, h, as, defs, work); err != nil {
		return err
	}
	if err := (planmanager.Settings{Workflow: "task"}).Setup(ctx, h); err != nil {
		return err
	}
	if c.Console != "" {
		if s.Console, err = (console.Settings{Listen: c.Console, LinkFile: filepath.Join(c.Dir, linkFile)}).Setup(ctx, h, c.Operator); err != nil {
			return err
		}
	}
	if c.Notify != "" || c.Desktop != nil {
		own, err := h.As(ctx, s.as(access.Party{Kind: access.Notify})...)
		if err != nil {
			return err
		}
		n := notify.Settings{Targets: c.Notify, Desktop: c.Desktop, Retry: notify.DefaultRetry, MaxAge: notify.DefaultMaxAge}
		if s.Console != nil {
			n.Console = s.Console.URL
		}
		if err := n.Setup(ctx, own); err != nil {
			return err
		}
	}
	if c.Main != nil {
		h.Add("main", func(ctx context.Context) error { return c.Main(ctx, s) })
	}
	return nil
}
