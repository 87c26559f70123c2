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

// refuseNested returns a *nestedError if the tree has repositories that git add
// would read: all but the ignored ones, such as below node_modules.
func (t *Tree) refuseNested(ctx context.Context) error {
	var refused []string
	err := filepath.WalkDir(t.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != ".git" {
			return err
		}
		if dir := filepath.Dir(path); dir != t.Dir {
			name, err := filepath.Rel(t.Dir, dir)
			if err != nil {
				return err
			}
			// Anything but "ignored", a failure included, is refused.
			if _, err := t.git.Run(ctx, "check-ignore", "--quiet", "--", name); git.ExitCode(err) != 0 {
				refused = append(refused, name)
			}
		}
		if entry.IsDir() {
			return filepath.SkipDir
		}
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return infra(ctx.Err(), "read the work tree")
	case err != nil:
		return unreadable(err)
	case len(refused) > 0:
		return &nestedError{refused}
	}
	return nil
}
