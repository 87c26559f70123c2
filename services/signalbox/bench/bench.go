// Package bench is the command `signalbox bench`. It measures the engine with agents
// that do nothing, against raw JetStream on the same machine in the same minutes.
package bench

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

//go:embed lifecycle/*.yaml
var lifecycles embed.FS

// Command is `signalbox bench`.
type Command struct {
	Scenario  []string        `name:"scenario" placeholder:"NAME,..." help:"Scenario to measure; all of the above by default."`
	Quick     bool            `name:"quick" help:"Only throughput and handoff, once."`
	Repeats   int             `name:"repeats" default:"3" help:"How often each is measured; medians and ranges are printed."`
	Instances int             `name:"instances" default:"10000" help:"How many instances run to their end, 8 steps each."`
	InFlight  int             `name:"in-flight" default:"64" help:"Instances under way at a time."`
	Sync      []time.Duration `name:"sync" default:"2m,0s" placeholder:"TIME,..." help:"How often the log is flushed to disk: 2m is nats-server's own default; 0s is strict, every event is flushed before anyone sees it."`
	Server    []string        `name:"nats-server" default:"separate,embedded" enum:"separate,embedded" help:"Whether nats-server has a process of its own or shares the orchestrator's: ${enum}."`
	History   int             `name:"history" default:"100000" help:"How many commits the log has where its length matters, ten an instance."`
	Kept      int             `name:"kept" default:"10000" help:"How many instances the log has in the scenario kept."`
	Far       int             `name:"far" default:"1000" help:"The late step of one instance that is measured against its step 8."`
	Large     bool            `name:"large" help:"With a history of 1,000,000 commits."`
	Profile   string          `name:"profile" type:"path" placeholder:"FILE" help:"Write a CPU profile of each process while the load runs: FILE.nats-server, FILE.orchestrator, FILE.agents."`
	Dir       string          `name:"dir" type:"existingdir" placeholder:"DIR" help:"Where the stores are kept while it runs: the disk that is measured; the system's temporary directory by default."`
	Out       string          `name:"out" type:"path" placeholder:"FILE" help:"Write the JSON object to a file, whatever is printed."`
	Benchstat bool            `name:"benchstat" help:"Print the Go benchmark format, a line a repeat, for benchstat."`
}

// Help lists the scenarios.
func (Command) Help() string {
	var all strings.Builder
	all.WriteString("It measures\n\n")
	for _, s := range scenarios() {
		fmt.Fprintf(&all, "  %-10s  %s\n", s.name, s.about)
	}
	return all.String()
}

// Validate returns an error for flags that cannot be measured with.
func (c Command) Validate() error {
	if c.History < 2*commitsEach || c.Far < 2*near {
		return fmt.Errorf("--history %d --far %d: want at least %d and %d", c.History, c.Far, 2*commitsEach, 2*near)
	}
	if c.Kept < 4000 {
		return fmt.Errorf("--kept %d: want at least 4000: a snapshot is due after 10,000 commits", c.Kept)
	}
	if c.Instances < 1 || c.InFlight < 1 || c.Repeats < 1 {
		return fmt.Errorf("--instances %d --in-flight %d --repeats %d: want at least 1 of each", c.Instances, c.InFlight, c.Repeats)
	}
	known := names()
	for _, s := range c.Scenario {
		if !slices.Contains(known, s) {
			return fmt.Errorf("--scenario %s: want some of %s", s, strings.Join(known, ", "))
		}
	}
	if len(c.Sync) == 0 || len(c.Server) == 0 || slices.Min(c.Sync) < 0 {
		return errors.New("want at least one --sync, none below 0, and one --nats-server")
	}
	return nil
}

// names returns the names of the scenarios.
func names() []string {
	var all []string
	for _, s := range scenarios() {
		all = append(all, s.name)
	}
	return all
}

// bench is one run of the command.
type bench struct {
	Command
	figures
	env       *term.Env
	dir       string            // of all stores; removed at the end
	histories map[string]string // directories of stores, by their chapters
	settings  orchestrator.Settings
}

// Run measures the scenarios and prints the report.
func (c Command) Run(ctx context.Context, env *term.Env) (err error) {
	chosen := c.chosen()
	if c.Large {
		c.History = 1_000_000
	}
	b := &bench{Command: c, env: env, histories: map[string]string{}}
	if b.dir, err = os.MkdirTemp(c.Dir, "signalbox-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if err := kong.ApplyDefaults(&b.settings); err != nil {
		return err
	}
	b.settings.WorkflowDir = filepath.Join(b.dir, "lifecycle")
	if err := os.CopyFS(b.dir, lifecycles); err != nil {
		return err
	}
	start := time.Now()
	for i := range b.Repeats {
		for _, s := range chosen {
			fmt.Fprintf(env.Stderr, "%s, repeat %d of %d\n", s.name, i+1, b.Repeats)
			if err := b.try(ctx, s); err != nil {
				if ctx.Err() != nil {
					return fmt.Errorf("stopped before the end: %w", context.Cause(ctx))
				}
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	return b.print(start)
}

// patience is the time-out of one scenario: of a million instances it writes three million commits.
const patience = time.Hour

func (b *bench) try(ctx context.Context, s scenario) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it took more than %v", patience))
	defer cancel()
	return s.run(ctx, b)
}

// chosen returns the scenarios to run. It sets the repeats of --quick.
func (c *Command) chosen() []scenario {
	want := c.Scenario
	if c.Quick {
		c.Repeats = 1
		if len(want) == 0 {
			want = []string{"throughput", "handoff"}
		}
	}
	return slices.DeleteFunc(scenarios(), func(s scenario) bool {
		return len(want) > 0 && !slices.Contains(want, s.name)
	})
}
