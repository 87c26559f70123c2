package cli

import (
	"context"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type noteCommand struct {
	instanceArg
	Text []string `arg:"" name:"text" help:"The remark."`
	Kind string   `name:"kind" env:"-" default:"comment" help:"Kind of the note: comment, learning, warning, …"`
}

// Run adds a note to an instance.
func (c noteCommand) Run(ctx context.Context, env *term.Env) error {
	cmd := &pb.Command{Action: &pb.Command_Note{Note: &pb.Note{Kind: c.Kind, Text: strings.Join(c.Text, " ")}}}
	return c.send(ctx, env, subject.Note, cmd, func(view.Instance) string { return "noted" })
}
