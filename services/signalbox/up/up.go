// Package up is the command `signalbox up`: the whole system in one process.
package up

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	gateway "github.com/signalbox/signalbox/services/gateway/app"
	pm "github.com/signalbox/signalbox/services/pm/app"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Command is `signalbox up`.
type Command struct {
	allinone.Agents
	Data            string        `name:"data" type:"path" default:".signalbox" placeholder:"DIR" help:"Everything that lasts: the log and the local forge."`
	Listen          string        `name:"listen" default:"127.0.0.1:4222" placeholder:"HOST:PORT" help:"Loopback address where NATS listens for other processes of yours; ${default} by default."`
	Sync            time.Duration `name:"sync" default:"0s" help:"How often the log is flushed to disk; 0 flushes every event before anyone sees it, 100ms is fast and may lose that much in a power cut."`
	Repo            []string      `name:"repo" placeholder:"[OWNER/NAME=]DIR" help:"Git repository the local forge starts from, or, with --forge-url, what to watch: OWNER/NAME, a pattern such as acme/web-*, or installed: all that the App is installed on; !OWNER/NAME leaves out. May be repeated."`
	Web             string        `name:"web" placeholder:"HOST:PORT" help:"Where the local forge is served; the same as last time by default."`
	Open            bool          `name:"web-open" help:"Let anybody who reaches the local forge read it; a token is needed otherwise."`
	WebCert         string        `name:"web-cert" type:"existingfile" placeholder:"FILE" help:"Certificate of --web, in PEM: the local forge is served by TLS there. It is read again for each connection."`
	WebKey          string        `name:"web-key" type:"existingfile" placeholder:"FILE" help:"Key of --web-cert."`
	Plain           bool          `name:"web-plain" help:"Serve the local forge beyond this machine without TLS, too, so that others on the network can read tokens and code."`
	URL             string        `name:"forge-url" placeholder:"URL" help:"Work with this forge, such as https://api.github.com/, in place of the local one."`
	Token           string        `name:"forge-token-file" type:"existingfile" placeholder:"FILE" help:"File that holds the forge's token."`
	Secret          string        `name:"forge-token" env:"SIGNALBOX_FORGE_TOKEN,GITHUB_TOKEN,GH_TOKEN" placeholder:"TOKEN" help:"The token itself; better given by file or environment than on the command line."`
	github.AppFlags `prefix:"forge-"`
	AtOnce          []string       `name:"at-once" sep:"none" placeholder:"LIMIT" help:"How much may be under way at a time, as [repo=OWNER/NAME,][state=STATE,][role=ROLE]:N; more work waits. May be repeated."`
	Lifecycles      []string       `name:"repo-workflow" placeholder:"NAME" help:"Lifecycle that the configuration of a repository may choose for its new issues, in addition to --workflow; * permits all. May be repeated."`
	Pace            time.Duration  `name:"forge-pace" placeholder:"DURATION" help:"Pause between two writes to the forge. By default 1s, as GitHub asks for, and none for a forge on this machine; below 0 is none."`
	Budget          []string       `name:"budget" sep:"none" placeholder:"[repo=OWNER/NAME,][role=ROLE,]day=AMOUNT" help:"Limit of a day's (UTC) cost, of one repository (or a pattern, acme/*) or role or of all: 20usd, 500000tokens or 8h of steps. When that is spent, work rests until the day ends. May be repeated."`
	Label           string         `name:"label" help:"Take up only issues with this label; empty: all that are reported from now on."`
	All             bool           `name:"all" help:"Take up the issues, too, that were open on --forge-url before this first watched the repository. Without it they need a label."`
	Dry             bool           `name:"dry-run" help:"Print what would be done with the issues that are open, and do nothing."`
	Intake          gateway.Intake `embed:""`
	gateway.Commands
	Every  time.Duration `name:"every" placeholder:"DURATION" help:"How often the forge is asked for changes. Default: 2s, with --forge-url 10s, with --webhook 10m."`
	Status pm.Status     `embed:""`
	gateway.Webhook
	Console string `name:"console" default:"127.0.0.1:4280" placeholder:"HOST:PORT" help:"Loopback address where the console is served, pages for a browser; ${default} by default, or a free port if that is taken; an empty value serves none."`
	Notify  string `name:"notify" type:"existingfile" placeholder:"FILE" help:"YAML file of the webhooks and chats that are notified of what waits for people and of ends."`
	Desktop bool   `name:"desktop" default:"true" negatable:"" help:"On a terminal that can (OSC 9), show on the desktop what waits for people, and work that failed."`
	HTTP    string `name:"http" placeholder:"HOST:PORT" default:"127.0.0.1:0" help:"Where /metrics, /healthz and /readyz are served; ${default} by default."`
	// Beside runs concurrently with the system until ctx ends; nil: nothing does.
	Beside func(ctx context.Context, s *allinone.System) error `kong:"-"`

	Verbose bool `name:"verbose" short:"v" env:"-" help:"Print the services' logs here, too, not only into DIR/signalbox.log. Warnings are printed in any case."`

	Grace time.Duration `name:"grace" default:"30s" help:"How long work under way may take to end after Ctrl-C."`
}

// Interval returns how often the forge is asked for changes.
func (c Command) Interval() time.Duration {
	switch {
	case c.Every > 0:
		return c.Every
	case c.Webhook.Addr != "":
		return gateway.Told
	case c.URL != "":
		return gateway.Asked // GitHub bounds how many requests a minute has, also of free ones
	}
	return 2 * time.Second
}

// Repositories returns the names of the repositories, OWNER/NAME, sorted.
func (c Command) Repositories() ([]string, error) {
	if c.URL != "" {
		return slices.Sorted(slices.Values(c.Repo)), nil
	}
	repos, err := sources(c.Repo)
	return slices.Sorted(maps.Keys(repos)), err
}

// Run runs the system until ctx ends.
func (c Command) Run(ctx context.Context, env *term.Env) error {
	config := allinone.Config{
		Dir: c.Data, Sync: c.Sync, Listen: c.Listen, Agents: c.Settings(), Workflow: c.Workflow, Dirs: c.WorkflowDir, Budgets: c.Budget,
		Every: c.Interval(), Webhook: c.Webhook, Label: c.Label, Lifecycles: c.Lifecycles, AtOnce: c.AtOnce, All: c.All, Intake: c.Intake, Flags: service.Flags{HTTP: c.HTTP, Grace: c.Grace},
	}
	config.Console, config.Operator, config.Notify = c.Console, env.User, c.Notify
	if c.Desktop && env.Terminal && os.Getenv("CI") == "" {
		config.Desktop = env.Stdout
	}
	config.Status, config.Commands = c.Status, c.Commands
	config.Web, config.Cert, config.Key, config.Open, config.Plain = c.Web, c.WebCert, c.WebKey, c.Open, c.Plain
	var err error
	if c.URL == "" {
		config.Repos, err = sources(c.Repo)
	} else {
		config.Forge, config.Watch = github.Flags{URL: c.URL, TokenFile: c.Token, Token: c.Secret, AppFlags: c.AppFlags, Pace: c.Pace}, c.Repo
	}
	if err != nil {
		return err
	}
	if err := c.check(ctx, config); err != nil {
		return err
	}
	if c.Dry {
		return c.dryRun(ctx, env, config)
	}
	log, err := allinone.OpenData(ctx, c.Data)
	if err != nil {
		return err
	}
	defer log.Close()
	config.Log = c.logger(env, log)
	config.Main = func(ctx context.Context, s *allinone.System) error {
		c.print(env, s, log.Name())
		for _, name := range slices.Sorted(maps.Keys(config.Repos)) {
			for _, warning := range allinone.Warnings(ctx, config.Repos[name].Dir) {
				fmt.Fprintf(env.Stderr, "warning: %s\n", warning)
			}
		}
		ctx, stop := context.WithCancel(ctx)
		var beside sync.WaitGroup
		defer beside.Wait()
		defer stop()
		if len(config.Repos) > 0 {
			beside.Go(func() { bring(ctx, env, s, config.Repos) })
		}
		if env.Clock { // a person looks at it
			beside.Go(func() { tell(ctx, env, s) })
		}
		if c.Beside != nil {
			err := c.Beside(ctx, s)
			if ctx.Err() != nil {
				c.stopping(env, s)
			}
			return err
		}
		<-ctx.Done()
		c.stopping(env, s)
		return nil
	}
	return allinone.Run(ctx, config)
}

// stopping prints the work that the end waits for, and the way to end at once.
func (c Command) stopping(env *term.Env, s *allinone.System) {
	const within = 2 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	all, err := client.New(s.NATS, env.User).List(ctx, &pb.ListRequest{})
	if err != nil {
		return
	}
	fmt.Fprint(env.Stderr, awaited(all, time.Now(), c.Grace))
}

// awaited returns the instances that the end waits for, as a line; "" if none.
func awaited(all []*pb.Summary, now time.Time, grace time.Duration) string {
	var work []string
	for _, one := range all {
		if one.GetAgent() != "" && one.GetLease().AsTime().After(now) {
			work = append(work, fmt.Sprintf("%s (%s in %s)", one.GetInstance(), cmp.Or(one.GetWorker(), one.GetOwner()), one.GetState()))
		}
	}
	if len(work) == 0 {
		return ""
	}
	return fmt.Sprintf("stopping: waits up to %v for %s; the rest goes on at the next start; Ctrl-C again ends it now\n",
		grace, term.Line(strings.Join(work, ", ")))
}

// logger returns the logger of the services: all goes into the file, and warnings, or with
// --verbose all, to standard error.
func (c Command) logger(env *term.Env, file *os.File) *slog.Logger {
	here := env.Log
	if !c.Verbose {
		here = service.Logging{Level: "warn", Format: env.Logging.Format}.Logger(env.Stderr)
	}
	return slog.New(slog.NewMultiHandler(env.Logging.Logger(file).Handler(), here.Handler()))
}

// print prints the addresses and paths.
func (c Command) print(env *term.Env, s *allinone.System, log string) {
	out := func(name, format string, args ...any) {
		fmt.Fprintf(env.Stderr, "%-8s"+format+"\n", append([]any{name}, args...)...)
	}
	if s.Console != nil {
		out("console", "%s (signs in once; console.link in the data has the next)", s.Console.SignInLink())
	}
	if s.Forge != nil {
		out("forge", "%s, sign in as %s with the token in %s", s.Forge.URL, s.Forge.Person, s.Forge.Token)
		out("sign in", "%s%s (once)", s.Forge.URL, s.Forge.SignInLink(s.Forge.Secret))
	} else {
		out("forge", "%s, watching %s", c.URL, strings.Join(c.Repo, ", "))
	}
	out("NATS", "%s, user %s, password in %s", s.URL, service.LocalUser, s.Login)
	out("sandbox", "%s", s.Sandbox.Describe())
	if analyst := c.Analyst(); analyst != "" {
		out("analyst", "%s", analyst)
	}
	out("data", "%s, log in %s", c.Data, log)
	out("Ctrl-C", "ends it when what is under way has ended, after %s at the latest; a second one at once", c.Grace)
}

// dryRun prints what the gateway would do.
func (c Command) dryRun(ctx context.Context, env *term.Env, config allinone.Config) error {
	if c.URL != "" {
		defs, err := allinone.Definitions(c.WorkflowDir)
		if err != nil {
			return service.Usagef("%w", err)
		}
		s := gateway.Settings{Forge: config.Forge, Repo: config.Watch, Workflow: c.Workflow, Lifecycles: c.Lifecycles, Label: c.Label, All: c.All, Intake: c.Intake}
		return s.DryRun(ctx, env.Stdout, defs...)
	}
	for _, name := range slices.Sorted(maps.Keys(config.Repos)) {
		fmt.Fprintf(env.Stdout, "%s: a local forge would serve %s; issues opened there are taken up, by the lifecycle %s\n", name, config.Repos[name].Dir,
			c.Workflow)
	}
	return nil
}

// sources parses values of the form [OWNER/NAME=]DIR. Without OWNER/NAME the name is
// local/ and the base name of DIR.
func sources(values []string) (map[string]allinone.Source, error) {
	repos := map[string]allinone.Source{}
	for _, v := range values {
		name, dir, found := strings.Cut(v, "=")
		if !found {
			dir = v
			abs, err := filepath.Abs(dir)
			if err != nil {
				return nil, err
			}
			name = "local/" + filepath.Base(abs)
		}
		if _, dup := repos[name]; dup {
			return nil, service.Usagef("--repo %s: %s is given twice", v, name)
		}
		if parts := strings.Split(name, "/"); len(parts) != 2 || slices.Contains(parts, "") {
			return nil, service.Usagef("--repo %s: want OWNER/NAME=DIR or DIR", v)
		}
		repos[name] = allinone.Source{Dir: dir}
	}
	return repos, nil
}
