package engine

import (
	"cmp"
	"context"
	"errors"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// Definitions finds lifecycles. What there is none of is a workflow.ErrUnknown.
type Definitions interface {
	// Named returns the definition new instances of the name open with; the
	// error says which names there are.
	Named(name string) (*workflow.Definition, error)
	// Hashed returns the definition of that content hash.
	Hashed(ctx context.Context, hash string) (*workflow.Definition, error)
}

// definition finds what a command is decided under: the definition that the
// instance was opened with, unless it is to be opened or to migrate.
func (e *Engine) definition(ctx context.Context, in instance.Instance, name string, cmd instance.Command) (*workflow.Definition, error) {
	_, opens := cmd.Do.(instance.Open)
	_, migrates := cmd.Do.(instance.Migrate)
	var def *workflow.Definition
	var err error
	switch {
	case !in.Exists() && !opens:
		return nil, &instance.Refusal{Code: instance.CodeUnknownInstance, Instance: cmd.Instance, What: "no such instance"}
	case !in.Exists():
		def, err = e.Definitions.Named(name)
	case migrates:
		def, err = e.target(ctx, cmp.Or(name, in.Workflow))
	default:
		return e.Definitions.Hashed(ctx, in.Definition)
	}
	if errors.Is(err, workflow.ErrUnknown) {
		return nil, &instance.Refusal{Code: instance.CodeInvalid, Instance: cmd.Instance, What: err.Error()}
	}
	return def, err
}

// target finds a definition by its name or its content hash.
func (e *Engine) target(ctx context.Context, nameOrHash string) (*workflow.Definition, error) {
	def, unnamed := e.Definitions.Named(nameOrHash)
	if unnamed == nil {
		return def, nil
	}
	def, err := e.Definitions.Hashed(ctx, nameOrHash)
	if errors.Is(err, workflow.ErrUnknown) {
		return nil, unnamed
	}
	return def, err
}
