// Package service has the common parts of every main: flags, logs, NATS, metrics,
// health, and a run that drains on a signal.
//
//	type program struct {
//		service.Flags
//		WorkDir string `name:"work-dir" help:"Where work trees are kept."`
//	}
//
//	func (p *program) Setup(ctx context.Context, h *service.Host) error {
//		a, err := agent.New(ctx, agent.Config{NATS: h.NATS, Dir: p.WorkDir, …})
//		if err != nil {
//			return err
//		}
//		h.Add("agent", a.Run)
//		return nil
//	}
//
//	func main() {
//		os.Exit(service.Run(context.Background(), service.Main{
//			Name: "developer", About: "Implements what was analysed.", Program: &program{},
//		}))
//	}
package service

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// Program is a service's own part: a pointer to a struct with kong's tags that embeds
// Flags, and so has Common.
type Program interface {
	// Setup adds the service's actors to h. ctx ends when the service must stop. An
	// error ends the service; a UsageError with exit code 2.
	Setup(ctx context.Context, h *Host) error

	Common() *Flags
}

// Main describes a service to Run.
type Main struct {
	Name    string // of the service, one word
	About   string // one sentence for --help
	Program Program
	Alone   bool // the service does not connect to NATS

	Args   []string  // default os.Args[1:]
	Stdout io.Writer // default os.Stdout
	Stderr io.Writer // default os.Stderr: logs and refused calls
}

// Run parses the call and runs the service until it ends, ctx ends or a SIGINT or
// SIGTERM arrives. It returns the exit code: 0 after a stop, 1 after a failure, 2
// for an invalid call. A second signal ends the process at once.
func Run(ctx context.Context, m Main) int {
	if m.Args == nil {
		m.Args = os.Args[1:]
	}
	if m.Stdout == nil {
		m.Stdout = os.Stdout
	}
	if m.Stderr == nil {
		m.Stderr = os.Stderr
	}

	call := Call{Name: m.Name, About: m.About, Args: m.Args, Stdout: m.Stdout, Stderr: m.Stderr}
	var options []kong.Option
	if m.Alone {
		options = append(options, kong.PostBuild(hideNATS))
	}
	if _, err := Parse(m.Program, call, options...); err != nil {
		return call.Exit(err)
	}
	ctx, cancel := NotifyContext(ctx)
	defer cancel()

	flags := m.Program.Common()
	if flags.Healthcheck {
		return call.Exit(flags.healthcheck(ctx))
	}
	log := flags.Logger(m.Stderr).With("service", m.Name)
	err := Serve(ctx, Config{Service: m.Name, Flags: *flags, Log: log, Setup: m.Program.Setup, Alone: m.Alone})
	if code := ExitCode(err); code != ExitFailed {
		return call.Exit(err)
	}
	log.Error("failed", "error", err)
	return ExitFailed
}

// NotifyContext returns a context that ends with the first SIGINT or SIGTERM. From
// then on the signals have their default effect, so a second one ends the process.
func NotifyContext(ctx context.Context) (context.Context, context.CancelFunc) {
	signalled, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(signalled, func() {
		stop() // before cancel: a signal after the end of ctx has its default effect
		cancel()
	})
	return ctx, stop
}
