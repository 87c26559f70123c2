package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

var commitID = lazyregexp.New(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// objectName returns the name of a bundle, made of its content. Its last element is
// the bundle's head.
func objectName(repo, base, head string) string {
	return path.Join("git", url.PathEscape(repo), base, head)
}

// Entry is one commit of the work.
type Entry struct{ Commit, Subject string }

// Log returns the commits between the spec's base and head, oldest first, and their
// change as git diff --stat prints it. Its errors wrap brain.ErrInfrastructure.
func (c *Cache) Log(ctx context.Context, s Spec) (entries []Entry, stat string, err error) {
	repo, err := c.repository(s.Repo)
	if err != nil {
		return nil, "", infra(err, "log")
	}
	if err := c.obtain(ctx, repo, s.Bundles, s.Base, s.Head); err != nil {
		return nil, "", err
	}
	text, err := repo.git.Run(ctx, "log", "--reverse", "--format=%H %s", s.Base+".."+s.Head)
	if err != nil {
		return nil, "", infra(err, "log")
	}
	for line := range strings.Lines(text) {
		commit, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		entries = append(entries, Entry{commit, subject})
	}
	if stat, err = repo.git.Run(ctx, "diff", "--stat", "--no-ext-diff", s.Base, s.Head); err != nil {
		return nil, "", infra(err, "log")
	}
	return entries, stat, nil
}

// obtain adds commits and their history to the repository. It fetches only the
// bundles whose head is missing.
func (c *Cache) obtain(ctx context.Context, r repository, bundles []string, commits ...string) error {
	for _, commit := range commits {
		if !commitID.MatchString(commit) {
			return infra(errors.New("want a full commit id"), "commit %q of %s", commit, r.name)
		}
	}
	held, err := r.open(ctx)
	if err != nil {
		return infra(err, "open the cache of %s", r.name)
	}
	defer held.Close()
	if r.holds(ctx, commits...) {
		return nil
	}
	for _, name := range bundles {
		if r.holds(ctx, path.Base(name)) {
			continue
		}
		if err := c.unbundle(ctx, r, name); err != nil {
			return infra(err, "bundle %s of %s", name, r.name)
		}
	}
	for _, commit := range commits {
		if r.holds(ctx, commit) {
			continue
		}
		// A commit between two bundles' ends has no reference yet.
		if err := r.refer(ctx, commit); err != nil {
			return infra(err, "commit %s of %s is not in its bundles %s", commit, r.name, strings.Join(bundles, ", "))
		}
	}
	return nil
}

// holds reports whether the repository keeps the commits. Git checks each once; then the file of its
// reference is enough, since nothing removes objects from a cache without its references.
func (r repository) holds(ctx context.Context, commits ...string) bool {
	for _, commit := range commits {
		file := filepath.Join(r.dir, keep(commit))
		if _, checked := r.kept.Load(file); checked {
			if now, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(now)) == commit {
				continue
			}
		}
		if r.absent(keep(commit)) {
			return false
		}
		if _, err := r.git.Run(ctx, "rev-parse", "--verify", "--quiet", keep(commit)+"^{commit}"); err != nil {
			return false
		}
		r.kept.Store(file, nil)
	}
	return true
}

// absent reports whether the repository has no such file and, if that is of a reference, no such
// reference for certain.
func (r repository) absent(name string) bool {
	for _, file := range []string{name, "packed-refs"} {
		if _, err := os.Lstat(filepath.Join(r.dir, file)); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// keep makes the reference of an object that git found to be a commit, and whose whole history is cached.
func (r repository) keep(ctx context.Context, commit string) error {
	if r.holds(ctx, commit) {
		return nil
	}
	err := r.refer(ctx, commit)
	if err == nil {
		r.kept.Store(filepath.Join(r.dir, keep(commit)), nil)
	}
	return err
}

// refer makes the reference of a commit.
func (r repository) refer(ctx context.Context, commit string) error {
	_, err := r.git.Run(ctx, "update-ref", keep(commit), commit)
	return err
}

func (c *Cache) unbundle(ctx context.Context, r repository, name string) (err error) {
	object, err := c.cfg.Objects.Get(ctx, name)
	if err != nil {
		return err
	}
	defer object.Close()
	file, err := os.CreateTemp(c.cfg.Dir, "bundle-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = io.Copy(file, object)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	heads, err := r.git.Run(ctx, "bundle", "unbundle", file.Name())
	if err != nil {
		return err
	}
	whole := strings.Count(name, "/") == 2 // the bundle of a base
	var updates strings.Builder
	for line := range strings.Lines(heads) {
		commit, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !whole || !strings.HasPrefix(ref, tagRefs) && !strings.HasPrefix(ref, moduleRefs) {
			ref = keep(commit)
		}
		fmt.Fprintf(&updates, "update %s %s\n", ref, commit)
	}
	return r.git.Stream(ctx, strings.NewReader(updates.String()), nil, "update-ref", "--stdin")
}

// put stores a bundle of head without the history of base, and returns the
// object's name. An empty base means the whole history.
func (c *Cache) put(ctx context.Context, r repository, base, head string) (string, error) {
	dir, err := os.MkdirTemp(c.cfg.Dir, "bundle-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "bundle")
	args := []string{"bundle", "create", "--quiet", file, keep(head)}
	if base != "" {
		args = append(args, "^"+base)
	} else {
		more, err := r.belongings(ctx, head)
		if err != nil {
			return "", err
		}
		args = append(args, more...)
	}
	if _, err := r.git.Run(ctx, args...); err != nil {
		return "", err
	}
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	name := objectName(r.name, base, head)
	return name, c.cfg.Objects.Put(ctx, name, f)
}
