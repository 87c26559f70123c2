package role

import (
	"context"
	"path/filepath"

	"github.com/signalbox/signalbox/pkg/service"
)

// Thinks returns the brains of a role that does no work on code, such as the PM: those
// that it was given. Without any, For of what is returned fails with ErrNoBrain.
func (s Settings) Thinks(ctx context.Context, role string) (Brains, error) {
	if len(s.Brain) == 0 {
		return Brains{Role: role}, nil
	}
	specs, err := ParseSpecs(s.Brain, role)
	if err == nil {
		err = specs.Check([]string{role})
	}
	if err == nil {
		err = s.checkScopes([]string{role})
	}
	if err != nil {
		return Brains{}, service.Usagef("%w", err)
	}
	box, err := s.box(ctx)
	if err != nil {
		return Brains{}, service.Usagef("%w", err)
	}
	tools := s.scope(role).tools(box)
	tools.Cache = Caches{filepath.Join(s.WorkDir, role, "caches")}.brain
	brains, err := specs.Build(role, tools)
	if err != nil {
		return Brains{}, service.Usagef("%w", err)
	}
	return brains, nil
}
