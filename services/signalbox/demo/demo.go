// Package demo is the command `signalbox demo`: in one process, a vague report about
// a real bug becomes a pull request whose tests pass.
package demo

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/service"
	console "github.com/signalbox/signalbox/services/console/app"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
	"github.com/signalbox/signalbox/services/signalbox/narrator"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

//go:embed asset
var asset embed.FS

// Command is `signalbox demo`.
type Command struct {
	Data   string `name:"data" type:"path" placeholder:"DIR" help:"Where the log stays; a new directory by default."`
	Unpack string `name:"unpack" type:"path" placeholder:"DIR" help:"Only write the repository, the report, its answer and the scripts to DIR, to try them on another system."`
}

const repo = "acme/widgets"

// ErrNotProven is returned if the demonstration ends without a pull request whose
// tests pass.
var ErrNotProven = errors.New("the demonstration did not get there")

// Run runs the demonstration. It returns an error unless the pull request exists and
// its tests pass.
func (c Command) Run(ctx context.Context, env *term.Env) error {
	if c.Unpack != "" {
		return unpackAll(ctx, c.Unpack)
	}
	dir, err := c.dir(ctx)
	if err != nil {
		return err
	}
	scripts, err := unpack(ctx, filepath.Join(dir, "stage"))
	if err != nil {
		return fmt.Errorf("write the assets: %w", err)
	}
	log, closeLog, err := logFile(filepath.Join(dir, "signalbox.log"))
	if err != nil {
		return err
	}
	defer closeLog()
	told := env.Stdout
	if env.JSON { // Stdout gets the events
		told = env.Stderr
	}
	n := narrator.New(told, env.Colour, env.Width)
	defer context.AfterFunc(ctx, n.Mute)()
	if env.Terminal && env.Clock {
		defer n.Clock()()
	}
	s := &story{env: env, n: n, dir: dir}
	intro(n, dir)
	mode, err := confinement(ctx, n)
	if err != nil {
		return err
	}
	err = allinone.Run(ctx, allinone.Config{
		Dir: dir, Log: log, Flags: service.Flags{Grace: 20 * time.Second}, Workflow: "issue", Every: 200 * time.Millisecond,
		Console: console.DefaultListen, Operator: env.User,
		Repos: map[string]allinone.Source{repo: {Dir: scripts.repo}}, Login: "ann", Observer: n, Main: s.run,
		Agents: role.Settings{Sandbox: mode, Brain: scripts.brains()},
	})
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: interrupted", ErrNotProven)
	case err != nil:
		return fmt.Errorf("%w (its log is %s)", err, filepath.Join(dir, "signalbox.log"))
	}
	return nil
}

// confinement returns how the demonstration's own scripts and tests are confined, and
// says it. They come with the program, so that they may run where nothing can confine
// them.
func confinement(ctx context.Context, n *narrator.Narrator) (string, error) {
	box, err := sandbox.New(ctx, sandbox.Auto)
	if errors.Is(err, sandbox.ErrUnconfined) {
		n.Say("sandbox: none. %v.", err)
		n.Say("Only scripts of the demonstration run here; any other brain needs --sandbox=none.")
		return string(sandbox.None), nil
	}
	if err == nil {
		n.Say("sandbox: %s", box.Describe())
	}
	return string(box.Mode()), err
}

func (c Command) dir(ctx context.Context) (string, error) {
	if c.Data == "" {
		return os.MkdirTemp("", "signalbox-demo-")
	}
	if entries, err := os.ReadDir(c.Data); err == nil && len(entries) > 0 {
		return "", service.Usagef("--data %s is not empty: a demonstration starts from nothing", c.Data)
	}
	if err := allinone.CheckData(ctx, c.Data); err != nil {
		return "", err
	}
	return c.Data, os.MkdirAll(c.Data, 0o700)
}

func intro(n *narrator.Narrator, dir string) {
	n.Title("Signalbox: one issue, from report to pull request")
	n.Say("In this process: a NATS server whose log is flushed to disk before anyone sees")
	n.Say("an event, the orchestrator, the gateway, every agent of the issue lifecycle,")
	n.Say("and a forge that speaks GitHub's REST. The developer, the tester who writes")
	n.Say("tests, the analyst's questions and the reporter's words are scripts that come")
	n.Say("with the demonstration. Nothing else is.")
	n.Say("")
	n.Say("log, forge and work: %s", dir)
}

// logFile opens the file for the services' logs.
func logFile(name string) (*slog.Logger, func(), error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	return slog.New(slog.NewTextHandler(io.Writer(f), nil)), func() { _ = f.Close() }, nil
}

// follow narrates the instance until f returns client.ErrStopWatch or an error.
func follow(ctx context.Context, c *client.Client, n *narrator.Narrator, id string, f func(client.LogEntry) error) error {
	return c.Watch(ctx, id, 0, func(seen client.LogEntry) error {
		n.Commit(seen)
		return f(seen)
	})
}
