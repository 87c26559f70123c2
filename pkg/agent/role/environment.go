package role

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/environment"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
)

// prepared is the environment of a tree.
type prepared struct {
	layers []environment.Layer
	failed string // of no tree: why a part of the newest is missing, for people
}

// prepare prepares what the tests of a tree need, by its own manifests and locks. A part that
// cannot be prepared is no fault yet: this machine may have it.
func (s step) prepare(ctx context.Context, tree *workspace.Tree) error {
	if _, done := s.layers[tree]; done || s.Layers == "" {
		return nil
	}
	root, err := os.OpenRoot(tree.Dir)
	if err != nil {
		return fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	defer root.Close()
	store := environment.Store{Dir: s.Layers, Runner: s.Sandbox, Limits: s.Limits, Allowed: s.Egress, Say: s.job.Progress}
	var p prepared
	for _, dir := range places(tree.Dir) {
		if err := s.prepareIn(ctx, store, root.FS(), tree.Dir, dir, &p); err != nil {
			return err
		}
	}
	s.layers[tree] = p
	if s.Sandbox.Mode() == sandbox.Bwrap && !environment.Copied(p.layers) {
		return nil // the layers are mounted
	}
	return s.fill(ctx, tree)
}

// places lists the directories of a tree whose tests run, relative to its root, and the root.
func places(dir string) []string {
	all := []string{"."}
	for _, part := range detect(dir, []string{testrun.Name})[0].plan.Parts {
		if part.Dir != "" && !slices.Contains(all, part.Dir) {
			all = append(all, part.Dir)
		}
	}
	return all
}

// prepareIn prepares what the manifests in a directory of a tree name.
func (s step) prepareIn(ctx context.Context, store environment.Store, tree fs.FS, root, dir string, p *prepared) error {
	at, err := fs.Sub(tree, dir)
	if err != nil {
		return fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	for _, r := range environment.Find(at) {
		l, made, err := store.Prepare(ctx, filepath.Join(root, dir), r)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, environment.ErrNotPrepared):
			failed := "\n\n" + printable(err.Error()) // people see it in the obstacle that follows from it
			if s.layers[nil].failed != failed {       // the base has the same manifests
				s.job.Progress("%s", oneLine(err.Error()))
			}
			s.layers[nil] = prepared{failed: failed}
			continue
		case err != nil:
			return fmt.Errorf("%w: prepare %s: %w", brain.ErrInfrastructure, r.Source, err)
		}
		if made && s.Sandbox.Mode() != sandbox.Bwrap {
			s.job.Progress("the servers of %s are not isolated from the tests: %s", r.Source, s.Sandbox.Describe())
		}
		p.layers = append(p.layers, l.In(dir))
		for _, sentence := range r.Unfetched() {
			s.layers[nil] = prepared{failed: "\n\n" + printable(sentence)}
			s.job.Progress("%s", oneLine(sentence))
		}
	}
	return nil
}

// fill copies the packages of the environment into a tree, for a brain or for a sandbox that
// mounts nothing. They are no part of the change.
func (s step) fill(ctx context.Context, tree *workspace.Tree) error {
	p := s.layers[tree]
	if len(p.layers) == 0 {
		return nil
	}
	if err := environment.CopyInto(ctx, tree.Dir, p.layers); err != nil {
		return fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	return tree.StartChange(ctx)
}
