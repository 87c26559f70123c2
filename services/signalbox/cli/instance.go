package cli

import (
	"context"
	"fmt"

	"github.com/nats-io/nuid"

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
	cmd.Instance = c.ID
	return c.call(ctx, env, func(ctx context.Context, s system) error {
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
	return c.call(ctx, env, func(ctx context.Context, s system) error {
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
			return printResult(env, in, fmt.Sprintf("%s is kept; it stays in %s", name, in.State))
		}
		return printResult(env, in, "now in "+in.State)
	})
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

// printResult prints the instance after a command.
func printResult(env *term.Env, in view.Instance, said string) error {
	if env.JSON {
		return env.Print(in)
	}
	env.Printf("%s: %s\n", term.Line(in.Instance), term.Line(said))
	return nil
}
