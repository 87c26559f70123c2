package role

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/model"
	"github.com/signalbox/signalbox/pkg/agent/environment"
	"github.com/signalbox/signalbox/pkg/agent/host"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
)

// App is the flags of a service that serves one role.
type App struct {
	service.Flags
	Settings
	role string
}

// NewApp returns the program of the role's service.
func NewApp(role string) *App { return &App{role: role} }

// With gives the role the document of a lifecycle, and returns a.
func (a *App) With(d Document) *App {
	a.Document = d
	return a
}

// Settings configures a role that works on code, in addition to the common flags.
type Settings struct {
	Brain     []string      `name:"brain" placeholder:"SPEC" sep:"none" help:"Brain of the role: exec:COMMAND, exec:PRESET, model:PROVIDER/NAME or rules; ROLE.STATE=SPEC for one state. May be repeated."`
	Env       []string      `name:"brain-env" placeholder:"NAME" help:"Environment variable that brains may see, in addition to the usual ones; may be repeated."`
	Wall      time.Duration `name:"brain-wall" default:"30m" help:"How long a brain that is a program may take for one piece of work."`
	Idle      time.Duration `name:"brain-idle" default:"10m" help:"How long it may print nothing meanwhile."`
	Duty      []string      `name:"duty" placeholder:"STATE=DUTY" sep:"none" help:"Deprecated: a lifecycle lists the work of its states. For a state that lists none: tests, checks (tests, lint and type checks), judges (changes are dropped), changes (success without one is a failure), accepts (runs the acceptance criteria); several between commas. May be repeated."`
	WorkDir   string        `name:"work-dir" type:"path" default:"~/.cache/signalbox/work" help:"Where copies of repositories and work trees are kept."`
	Sandbox   string        `name:"sandbox" enum:"auto,bwrap,landlock,none" default:"auto" help:"How brains and tests are confined: auto takes bubblewrap where it works, else Landlock, else refuses; none gives them all rights of this user."`
	Egress    []string      `name:"egress" placeholder:"HOST[:PORT]" help:"Host that brains and tests can reach from the sandbox, such as a registry of packages; port 443 by default. May be repeated."`
	Read      []string      `name:"brain-read" type:"path" placeholder:"PATH" help:"File or directory that brains may read from the sandbox, in addition to the files their command names. May be repeated."`
	Limit     []string      `name:"limit" placeholder:"NAME=VALUE" help:"Limit of what a brain or test run may use: memory, disk, file-size (8GiB), processes, files (1000), cpu (1h). May be repeated."`
	CommitAs  string        `name:"commit-as" placeholder:"WHO" help:"Author and committer of commits, as NAME <EMAIL>; Signalbox <signalbox@localhost> by default. The forge-side services need the same."`
	StateFile string        `name:"state-file" placeholder:"PATH" default:"issue-state.json" help:"Where in its work tree a program finds the document of the lifecycle, if that has one. It is no part of the change."`
	Prompts   string        `name:"prompts" type:"path" placeholder:"DIR" help:"Directory of templates of prompts, ROLE.tmpl and ROLE.STATE.tmpl, that win over those of the repository and the built-in ones."`
	Presets   string        `name:"presets" type:"path" placeholder:"DIR" help:"Directory of presets for coding agents, NAME.yaml. They win over built-in presets of the same name."`
	Servers   string        `name:"mcp-servers" type:"path" placeholder:"FILE" help:"YAML file of MCP servers whose tools brains are given, by role."`
	Workers   int           `name:"workers" default:"1" help:"Pieces of work at a time."`
	Models

	Document  Document         `kong:"-"` // nil: none
	Endpoints *model.Endpoints `kong:"-"` // of models, shared by roles; nil: the role has its own
	Box       *sandbox.Sandbox `kong:"-"` // nil: made from Sandbox
	Hidden    []string         `kong:"-"` // paths that no brain and no test sees
	Observer  agent.Observer   `kong:"-"`
	Bases     *Baselines       `kong:"-"` // shared with other roles of the process; nil: its own
	Original  instance.Issue   `kong:"-"` // shown to brains instead of its copy on the forge, which has its title; zero: none
	Whole     Whole            `kong:"-"` // the report that is too long for an issue; zero: none is
	AtOnce    bool             `kong:"-"` // gives back work under way at once when it is stopped, without the host's grace
}

// Setup implements service.Program.
func (a *App) Setup(ctx context.Context, h *service.Host) error {
	return a.Settings.Setup(ctx, h, a.role)
}

// Setup adds the role to a host.
func (s Settings) Setup(ctx context.Context, h *service.Host, role string) error {
	if err := subject.CheckName(role); err != nil {
		return service.Usagef("role %q: %w", role, err)
	}
	specs, err := ParseSpecs(s.Brain, role)
	if err == nil {
		err = specs.Check([]string{role})
	}
	if err == nil {
		err = s.checkScopes([]string{role})
	}
	if err != nil {
		return service.Usagef("%w", err)
	}
	s = s.scope(role)
	duties, err := ParseDuties(s.Duty)
	if err != nil {
		return service.Usagef("%w", err)
	}
	list, err := egress.Parse(s.Egress)
	if err != nil {
		return service.Usagef("%w", err)
	}
	limits, err := ParseLimits(s.Limit)
	if err != nil {
		return service.Usagef("%w", err)
	}
	who, err := outbound.ParseIdentity(s.CommitAs)
	if err != nil {
		return service.Usagef("--commit-as: %w", err)
	}
	box, err := s.box(ctx)
	if err != nil {
		return service.Usagef("%w", err)
	}
	box = box.OnRefused(tellRefused(h, role))
	caches := Caches{filepath.Join(s.WorkDir, role, "caches")}
	tools := s.tools(box)
	issued := &secret.Issued{}
	tools.Limits, tools.Cache, tools.Issued = limits, caches.brain, issued.Add
	brains, err := specs.Build(role, tools)
	if err != nil {
		return service.Usagef("%w", err)
	}
	js, err := access.JetStreamAs(ctx, h.NATS, access.Party{Kind: access.Agent, Name: role})
	if err != nil {
		return err
	}
	objects := host.Objects(h)
	cache, err := workspace.New(workspace.Config{
		Dir: filepath.Join(s.WorkDir, role), Objects: objects, Identity: who, Sandbox: box, Refused: tellNotTaken(h, role),
	})
	if err != nil {
		return fmt.Errorf("work directory: %w", err)
	}
	if n, err := cache.Sweep(ctx); err != nil {
		h.Log.Warn("the remains of killed processes stay in the work directory", "role", role, "error", err)
	} else if n > 0 {
		h.Log.Info("work trees of killed processes removed", "role", role, "trees", n)
	}
	if err := caches.Sweep(); err != nil {
		h.Log.Warn("caches that nobody uses stay", "role", role, "error", err)
	}
	layers := environment.Store{Dir: filepath.Join(s.WorkDir, "environments")} // of all roles: none can change one
	if err := layers.Sweep(); err != nil {
		h.Log.Warn("environments that nobody uses stay", "role", role, "error", err)
	}
	logSandbox(h.Log, role, box, s.Box != nil)
	for _, server := range brains.servers {
		h.Log.Info("MCP server", "role", role, "about", server.Describe())
	}
	coder := Coder{
		Duties: duties, Brains: brains, Workspace: cache, Objects: objects, Sandbox: box, Document: s.Document,
		Rules:     outbound.DefaultRules(),
		Baselines: cmp.Or(s.Bases, new(Baselines)), QuickTests: quickTests,
		Caches: caches,
		Layers: layers.Dir,
		Egress: list,
		Limits: limits, Chromium: testrun.Chromium(),
		Log: h.Log,
	}
	if coder.Secrets, err = host.Secrets(h, brains.servers.Secrets()...); err != nil {
		return err
	}
	coder.Secrets = coder.Secrets.WithIssued(issued)
	a := host.Agent(h, js, role, original{coder, s.Original, s.Whole}, coder.Secrets, s.Observer)
	a.Workers = s.Workers
	if s.AtOnce {
		a.Grace = 0
	}
	h.Add(role, a.Run)
	return nil
}

// box returns the sandbox of the settings. It hides the work of all roles: what
// a command needs of it, its work tree and the objects, it is given.
func (s Settings) box(ctx context.Context) (sandbox.Sandbox, error) {
	hidden := append([]string{s.WorkDir}, s.Hidden...)
	if dir, err := os.UserConfigDir(); err == nil {
		hidden = append(hidden, filepath.Join(dir, "signalbox"))
	}
	if s.Box != nil {
		return s.Box.Hiding(hidden...), nil
	}
	box, err := sandbox.New(ctx, sandbox.Mode(s.Sandbox))
	return box.Hiding(hidden...), err
}

// tellRefused returns what logs and counts the hosts that brains and tests were not let
// out to.
func tellRefused(h *service.Host, role string) func(refused []string) {
	count := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "signalbox_sandbox_refused_total", Help: "Connections of brains and tests that the sandbox did not let out.",
	})
	prometheus.WrapRegistererWith(prometheus.Labels{"role": role}, h.Metrics).MustRegister(count)
	return func(refused []string) {
		count.Add(float64(len(refused)))
		h.Log.Warn("sandbox refused", "role", role, "hosts", refused)
	}
}

// tellNotTaken returns what logs and counts what programs left in work trees and is not taken in.
func tellNotTaken(h *service.Host, role string) func(*workspace.Refused) {
	count := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "signalbox_intake_refused_total", Help: "Work trees that were not taken in after a program, by rule.",
	}, []string{"rule"})
	prometheus.WrapRegistererWith(prometheus.Labels{"role": role}, h.Metrics).MustRegister(count)
	for _, rule := range workspace.RefusedRules() { // so that an alert sees the first of each
		count.WithLabelValues(rule)
	}
	return func(r *workspace.Refused) {
		count.WithLabelValues(r.Rule).Inc()
		h.Log.Warn("work tree refused", "role", role, "rule", r.Rule, "detail", r.Detail)
	}
}

// logSandbox says how commands are confined, and what is missing loudly, unless the box is
// shared: then that is said once, where it was made.
func logSandbox(log *slog.Logger, role string, box sandbox.Sandbox, shared bool) {
	attrs := []any{"role", role, "mode", string(box.Mode()), "about", box.Describe()}
	if box.Mode() == sandbox.Bwrap || shared {
		log.Info("sandbox", attrs...)
	} else {
		log.Warn("sandbox", attrs...)
	}
}

// tools is what brains that run programs are given.
func (s Settings) tools(box sandbox.Sandbox) Tools {
	t := Tools{Models: s.Models, Endpoints: s.Endpoints, Egress: s.Egress, Readable: s.Read, Env: s.Env, Wall: s.Wall, Idle: s.Idle, Sandbox: box, Document: s.Document, StateFile: s.StateFile, promptsDir: s.Prompts, PresetsDir: s.Presets, ServersFile: s.Servers}
	if t.Endpoints == nil {
		t.Endpoints = &model.Endpoints{}
	}
	if s.Observer != nil {
		pace := rate.Sometimes{First: 1, Interval: linePace}
		t.Line = func(a brain.Assignment, line string) {
			if line != "" && line[0] != '{' { // what is not meant for a program to read
				pace.Do(func() { s.Observer.Progressed(agent.Job{Assignment: a}, line) })
			}
		}
	}
	return t
}

// linePace is how often people are shown what a program prints.
const linePace = 300 * time.Millisecond
