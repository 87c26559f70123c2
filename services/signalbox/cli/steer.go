package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// one is a command to one instance.
type one struct {
	running
	ID string `arg:"" name:"id" help:"The instance."`
}

// steer sends one command about the instance and says what came of it.
func (c one) steer(ctx context.Context, env *term.Env, name string, cmd *pb.Command, said func(view.Instance) string) error {
	cmd.Instance = c.ID
	return c.ask(ctx, env, func(ctx context.Context, s system) error {
		reply, err := s.Do(ctx, name, cmd)
		if err != nil {
			return err
		}
		in := view.Of(reply.GetInstance())
		return done(env, in, said(in))
	})
}

// done prints the instance after a command.
func done(env *term.Env, in view.Instance, said string) error {
	if env.JSON {
		return env.Print(in)
	}
	env.Printf("%s: %s\n", term.Line(in.Instance), term.Line(said))
	return nil
}

// because is a command with a reason.
type because struct {
	one
	Reason string `name:"reason" short:"r" env:"-" help:"Why, for the log."`
}

func (c because) reason(env *term.Env) string {
	if c.Reason != "" {
		return c.Reason
	}
	return "asked for by " + env.User
}

type pause struct{ because }

// Run keeps work from being given out.
func (c pause) Run(ctx context.Context, env *term.Env) error {
	cmd := &pb.Command{Action: &pb.Command_Pause{Pause: &pb.Pause{Reason: c.reason(env)}}}
	return c.steer(ctx, env, subject.Pause, cmd, func(in view.Instance) string { return "paused in " + in.State })
}

type resume struct{ because }

// Run undoes a pause.
func (c resume) Run(ctx context.Context, env *term.Env) error {
	cmd := &pb.Command{Action: &pb.Command_Resume{Resume: &pb.Resume{Reason: c.reason(env)}}}
	return c.steer(ctx, env, subject.Resume, cmd, func(in view.Instance) string { return "goes on in " + in.State })
}

type cancel struct{ because }

// Run closes an instance where it stands.
func (c cancel) Run(ctx context.Context, env *term.Env) error {
	cmd := &pb.Command{Action: &pb.Command_Cancel{Cancel: &pb.Cancel{Reason: c.reason(env)}}}
	return c.steer(ctx, env, subject.Cancel, cmd, func(in view.Instance) string { return "cancelled in " + in.State })
}

type retry struct{ because }

// Run gives the owner the work once more.
func (c retry) Run(ctx context.Context, env *term.Env) error {
	cmd := &pb.Command{Action: &pb.Command_Retry{Retry: &pb.Retry{Reason: c.reason(env)}}}
	return c.steer(ctx, env, subject.Retry, cmd, func(in view.Instance) string {
		return fmt.Sprintf("%s is given the work of %s once more", in.Owner, in.State)
	})
}

type override struct {
	one
	To     string `name:"to" required:"" env:"-" placeholder:"STATE" help:"Where it goes, whatever the table permits."`
	Reason string `name:"reason" short:"r" required:"" env:"-" help:"Why, for the log."`
}

// Run moves an instance outside the table.
func (c override) Run(ctx context.Context, env *term.Env) error {
	cmd := &pb.Command{Action: &pb.Command_Override{Override: &pb.Override{To: c.To, Reason: c.Reason}}}
	return c.steer(ctx, env, subject.Override, cmd, func(in view.Instance) string { return "now in " + in.State })
}

type note struct {
	one
	Text []string `arg:"" name:"text" help:"The remark."`
	Kind string   `name:"kind" env:"-" default:"comment" help:"What it is: comment, learning, warning, …"`
}

// Run keeps a remark with an instance.
func (c note) Run(ctx context.Context, env *term.Env) error {
	cmd := &pb.Command{Action: &pb.Command_Note{Note: &pb.Note{Kind: c.Kind, Text: strings.Join(c.Text, " ")}}}
	return c.steer(ctx, env, subject.Note, cmd, func(view.Instance) string { return "noted" })
}
