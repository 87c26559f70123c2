package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nuid"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// instanceArg has the flags of a command to one instance.
type instanceArg struct {
	running
	ID string `arg:"" name:"id" help:"The instance."`
}

// send sends a command to the instance. It prints the result, which said describes.
func (c instanceArg) send(ctx context.Context, env *term.Env, name string, cmd *pb.Command, said func(view.Instance) string) error {
	return c.callOne(ctx, env, &c.ID, func(ctx context.Context, s system) error {
		cmd.Instance = c.ID
		reply, err := s.Do(ctx, name, cmd)
		if err != nil {
			return err
		}
		in := view.Of(reply.GetInstance())
		return printResult(env, in, said(in))
	})
}

// sendSignal sends a signal as the person at this machine and prints the result.
func (c instanceArg) sendSignal(ctx context.Context, env *term.Env, name string, data map[string]string) error {
	data["operator"] = "true"
	return c.callOne(ctx, env, &c.ID, func(ctx context.Context, s system) error {
		before, err := s.Get(ctx, c.ID)
		if err != nil {
			return err
		}
		reply, err := s.Signal(ctx, c.ID, name, nuid.Next(), env.User, data)
		if err != nil {
			return err
		}
		in := view.Of(reply.GetInstance())
		if in.State == before.GetState() && in.Iteration == int(before.GetIteration()) {
			return printResult(env, in, fmt.Sprintf("%s is kept; it stays in %s%s", name, in.State, unheard(ctx, s, reply.GetInstance(), name)))
		}
		return printResult(env, in, "now in "+in.State)
	})
}

// unheard returns a hint if no state of the lifecycle listens to the signal.
func unheard(ctx context.Context, s system, in *pb.Instance, name string) string {
	def, err := definitionOf(ctx, s, in)
	if err != nil {
		return "" // the signal is kept all the same
	}
	heard := signals(def)
	if slices.Contains(heard, name) {
		return ""
	}
	return ": no state of " + def.Name + " listens to it" + orMeant(name, heard)
}

// signals returns the signals that states of the lifecycle listen to.
func signals(d *workflow.Definition) (names []string) {
	for _, state := range d.StateNames() {
		row, _ := d.State(state)
		names = slices.AppendSeq(names, maps.Keys(row.On))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// instanceReason has the flags of a command to one instance with a reason.
type instanceReason struct {
	instanceArg
	Reason string `name:"reason" short:"r" env:"-" help:"Why, for the log."`
}

// reason returns --reason, or by default that the user asked for it.
func (c instanceReason) reason(env *term.Env) string {
	if c.Reason != "" {
		return c.Reason
	}
	return "asked for by " + env.User
}

// askReason asks a person for the reason if there is no --reason. An empty line leaves
// the default. Nobody is asked if standard input is no terminal, or with --json.
func (c *instanceReason) askReason(ctx context.Context, env *term.Env, done string) error {
	if c.Reason != "" || !env.Person || env.JSON {
		return nil
	}
	fmt.Fprintf(env.Stderr, "Why should %s be %s? One line for the log; an empty line records \"%s\".\n> ", term.Line(c.ID), done, term.Line(c.reason(env)))
	line, err := env.ReadLine(ctx)
	c.Reason = strings.TrimSpace(line)
	return err
}

// printResult prints the instance after a command.
func printResult(env *term.Env, in view.Instance, said string) error {
	if env.JSON {
		return env.Print(in)
	}
	env.Printf("%s: %s\n", term.Line(in.Instance), term.Line(said))
	return nil
}
