package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// nestedError reports git repositories below the root of a work tree. It is an
// ErrUnreadable.
//
// git add reads a nested repository with that repository's own configuration,
// whose filters are commands. The runtime therefore never adds a tree that has
// one.
type nestedError struct{ paths []string }

// Error implements error.
func (e *nestedError) Error() string {
	return fmt.Sprintf("%v: %s: a git repository within the repository: remove its .git, or have git ignore it", ErrUnreadable,
		strings.Join(e.paths, ", "))
}

// Unwrap makes errors.Is(err, ErrUnreadable) hold.
func (e *nestedError) Unwrap() error { return ErrUnreadable }

// flatten removes the .git of the repositories that git add would read: all but the ignored
// ones, such as below node_modules or those that omit leaves out. It returns a *nestedError if
// one stays.
func (t *Tree) flatten(ctx context.Context) error {
	found, err := t.nested(ctx)
	if err != nil || len(found) == 0 {
		return err
	}
	if err := t.unnest(found); err != nil {
		return err
	}
	if found, err = t.nested(ctx); err == nil && len(found) > 0 {
		err = &nestedError{found}
	}
	return err
}

// nested lists the directories of the tree below its root that have a .git and are not ignored.
func (t *Tree) nested(ctx context.Context) ([]string, error) {
	var found []string
	err := filepath.WalkDir(t.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != ".git" {
			return err
		}
		if dir := filepath.Dir(path); dir != t.Dir {
			name, err := filepath.Rel(t.Dir, dir)
			if err != nil {
				return err
			}
			// Anything but "ignored", a failure included, counts.
			if _, err := t.git.Run(ctx, "check-ignore", "--quiet", "--", name); git.ExitCode(err) != 0 {
				found = append(found, name)
			}
		}
		if entry.IsDir() {
			return filepath.SkipDir
		}
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return nil, infra(ctx.Err(), "read the work tree")
	case err != nil:
		return nil, unreadable(err)
	}
	return found, nil
}
