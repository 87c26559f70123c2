package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/pack"
)

// unpackLimit is the number of objects from which on a pack stays one, as in git itself.
const unpackLimit = 100

// quarantine holds objects that the cached repository does not have yet, and whose content is
// verified.
type quarantine struct {
	dir  string
	into string
	git  git.Runner // on the objects of the quarantine and those of the cached repository
}

// errSlow ends git that reads a pack for too long.
var errSlow = errors.New("the pack of it takes too long to read")

// quarantine reads a pack that came out of the sandbox. A pack that holds more than the intake
// permits, that has deltas, objects that git finds fault with, or links to objects that neither
// it nor the cached repository has, is a *Refused. The caller must discard the quarantine.
func (t *Tree) quarantine(ctx context.Context, in io.Reader) (_ *quarantine, err error) {
	max := t.cache.cfg.Intake
	file, err := os.CreateTemp(filepath.Dir(t.Dir), "pack-*")
	if err != nil {
		return nil, infra(err, "read the work tree")
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	stats, err := pack.Scan(io.TeeReader(in, file), pack.Limits{Objects: max.Objects, Object: max.Object, Bytes: max.Bytes})
	switch {
	case errors.Is(err, pack.ErrLimit):
		return nil, t.refused("size", err.Error())
	case errors.Is(err, pack.ErrFormat):
		return nil, t.refused("pack", err.Error())
	case err != nil:
		return nil, infra(err, "read the work tree")
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, infra(err, "read the work tree")
	}
	q := &quarantine{into: filepath.Join(t.repo.dir, "objects")}
	if q.dir, err = os.MkdirTemp(filepath.Dir(t.Dir), "objects-*"); err != nil {
		return nil, infra(err, "read the work tree")
	}
	q.git = t.repo.git.WithEnv("GIT_OBJECT_DIRECTORY="+q.dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+q.into, "GIT_NO_REPLACE_OBJECTS=1",
		fmt.Sprintf("GIT_ALLOC_LIMIT=%d", max.Memory))
	ctx, cancel := context.WithTimeoutCause(ctx, max.Wall, errSlow)
	defer cancel()
	args := []string{"unpack-objects", "-q", "--strict"}
	switch {
	case stats.Objects == 0:
		return q, nil
	case stats.Objects > unpackLimit:
		args = []string{"index-pack", "--strict", "--stdin", "--threads=1"}
	}
	if err := q.git.Stream(ctx, file, nil, args...); err != nil {
		q.discard()
		var failed *git.Error
		switch {
		case errors.Is(context.Cause(ctx), errSlow):
			return nil, t.refused("time", errSlow.Error())
		case ctx.Err() == nil && errors.As(err, &failed) && failed.ExitCode >= 0 && !strings.Contains(failed.Stderr, "No space left on device"):
			return nil, t.refused("pack", "git finds fault with it: "+lines(failed.Stderr))
		}
		return nil, infra(err, "read the work tree")
	}
	return q, nil
}

// accept moves the objects into the cached repository.
func (q *quarantine) accept() error {
	var files []string
	err := filepath.WalkDir(q.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return infra(err, "take the work tree in")
	}
	// An index makes its pack visible: it comes last.
	slices.SortStableFunc(files, func(a, b string) int { return strings.Compare(last(a), last(b)) })
	for _, path := range files {
		name, err := filepath.Rel(q.dir, path)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(q.into, name)), 0o755)
		}
		if err == nil {
			err = os.Rename(path, filepath.Join(q.into, name))
		}
		if err != nil {
			return infra(err, "take the work tree in")
		}
	}
	return nil
}

// last orders files: indexes of packs after all others.
func last(path string) string {
	if filepath.Ext(path) == ".idx" {
		return "1"
	}
	return "0"
}

// discard removes what was not accepted.
func (q *quarantine) discard() { _ = os.RemoveAll(q.dir) }
