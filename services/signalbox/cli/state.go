package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

type stateCommand struct {
	reading
	ID     string `arg:"" optional:"" name:"id" help:"The instance."`
	Schema bool   `name:"schema" env:"-" help:"Print the JSON Schema of the document instead."`
}

// Run prints the document of the pipeline lifecycle.
func (c stateCommand) Run(ctx context.Context, env *term.Env) error {
	switch {
	case c.Schema && c.ID == "":
		return document(env, pipeline.Schema())
	case c.Schema:
		return service.Usagef("--schema is of every document: it goes without an instance")
	case c.ID == "":
		return service.Usagef("an instance is needed: signalbox state ID, or --schema")
	}
	return c.read(ctx, env, func(ctx context.Context, s reader) error {
		in, err := s.Get(ctx, c.ID)
		if err != nil {
			return err
		}
		def, err := definitionOf(ctx, s, in)
		if err != nil {
			return err
		}
		if !pipeline.Applies(def) {
			return fmt.Errorf("%s has no document: no role of %s writes one; `signalbox show %s` describes it", c.ID, def.Name, c.ID)
		}
		text, err := view.Document(in, def).Encode()
		if err != nil {
			return err
		}
		return document(env, text)
	})
}

// document prints a JSON text; with --json on one line.
func document(env *term.Env, text []byte) error {
	if env.JSON {
		return env.Print(json.RawMessage(text))
	}
	env.Printf("%s", term.JSON(text))
	return nil
}
