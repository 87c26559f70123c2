package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/base/filelock"
	"github.com/signalbox/signalbox/pkg/git"
)

// Spec selects the commit to check out.
type Spec struct {
	Repo    string   // names the code repository, such as acme/widgets
	Bundles []string // object names, the base's first
	Base    string   // commit the work started from
	Head    string   // commit the work is at; empty: Base
	Branch  string   // checked out in the tree; empty: detached
}

// Tree is a work tree for one assignment. One goroutine uses it at a time.
type Tree struct {
	Dir    string // the program's directory
	Shared string // objects the tree borrows: a sandbox must let the program read it
	Base   string
	Head   string // moves with Commit

	id     string
	branch string
	cache  *Cache
	repo   repository
	git    git.Runner // on the files in Dir, in the sandbox, with our configuration and our index
	held   *os.File

	patterns []string // of leftover, that count
	settled  []string // of Leftover, when the tree was settled
	aside    aside
	absent   []string        // submodules whose files are not there
	tags     string          // lines of a file packed-refs
	omitted  map[string]bool // files and directories that are no part of the change for what they are
	once     bool            // the tree is read once, see Hold
	seen     *left           // as it was read then; nil: it was not yet
	listed   *untracked      // then, too
}

// Checkout makes a work tree at the spec's head and fetches the bundles that are not
// cached. Its errors wrap brain.ErrInfrastructure. The caller must close the tree.
func (c *Cache) Checkout(ctx context.Context, s Spec) (*Tree, error) {
	if s.Head == "" {
		s.Head = s.Base
	}
	repo, err := c.repository(s.Repo)
	if err == nil && s.Branch != "" {
		_, err = runner("").Run(ctx, "check-ref-format", "--branch", s.Branch)
	}
	if err != nil {
		return nil, infra(err, "check out")
	}
	if err := c.obtain(ctx, repo, s.Bundles, s.Base, s.Head); err != nil {
		return nil, err
	}
	t, err := c.tree(ctx, repo, s)
	if err != nil {
		return nil, infra(err, "check out %s of %s", s.Head, s.Repo)
	}
	return t, nil
}

func (c *Cache) tree(ctx context.Context, repo repository, s Spec) (_ *Tree, err error) {
	dir, held, err := c.newTree(ctx)
	if err != nil {
		return nil, err
	}
	t := &Tree{
		Dir: filepath.Join(dir, "work"), Shared: filepath.Join(repo.dir, "objects"), Base: s.Base, Head: s.Head,
		id: filepath.Base(dir), branch: s.Branch, cache: c, repo: repo, held: held,
	}
	t.git = repo.git.In(t.Dir).WithEnv("GIT_WORK_TREE="+t.Dir, "GIT_INDEX_FILE="+t.index())
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close())
		}
	}()
	if err := errors.Join(os.Mkdir(t.Dir, 0o700), os.Mkdir(t.own(), 0o700)); err != nil {
		return nil, err
	}
	// Nothing but git has written to the tree yet.
	if _, err := t.git.Run(ctx, "read-tree", "--reset", "-u", t.Head); err != nil {
		return nil, err
	}
	if t.absent, err = repo.populate(ctx, t.Dir, filepath.Dir(t.Dir), t.Head, "", 0); err != nil {
		return nil, err
	}
	if !repo.tagless() {
		if t.tags, err = repo.git.Run(ctx, "for-each-ref", fmt.Sprintf("--count=%d", maxTags), "--merged="+t.Base, "--format=%(objectname) %(refname)", tagRefs); err != nil {
			return nil, err
		}
	}
	if err := t.exclude(ctx); err != nil {
		return nil, err
	}
	if err := t.confine(); err != nil {
		return nil, err
	}
	return t, t.equip()
}

// newTree creates and locks a directory for a tree.
func (c *Cache) newTree(ctx context.Context) (string, *os.File, error) {
	making, err := filelock.Wait(ctx, c.treesLock())
	if err != nil {
		return "", nil, err
	}
	defer making.Close()
	dir, err := os.MkdirTemp(filepath.Join(c.cfg.Dir, "trees"), "*")
	if err != nil {
		return "", nil, err
	}
	held, err := filelock.Try(filepath.Join(dir, "lock"))
	return dir, held, err
}

func (t *Tree) index() string { return filepath.Join(t.own(), "index") }

// plain returns the whole configuration of the program's repository.
func (t *Tree) plain() string {
	who := t.cache.cfg.Identity
	return fmt.Sprintf("[core]\n\trepositoryformatversion = 0\n\tbare = false\n[user]\n\tname = %q\n\temail = %q\n", who.Name, who.Email)
}

// equip creates the program's repository at Head.
func (t *Tree) equip() error {
	dot := filepath.Join(t.Dir, ".git")
	if err := sandbox.RemoveAll(dot); err != nil {
		return err
	}
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(dot, dir), 0o755); err != nil {
			return err
		}
	}
	files := map[string]string{"config": t.plain(), "objects/info/alternates": t.Shared + "\n", "HEAD": t.Head + "\n"}
	if t.tags != "" {
		files["packed-refs"] = t.tags + "\n"
	}
	if t.branch != "" {
		branch := "refs/heads/" + t.branch
		files["HEAD"], files[branch] = "ref: "+branch+"\n", t.Head+"\n"
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dot, branch)), 0o755); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dot, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	index, err := readPlain(t.index()) // git in the sandbox wrote it
	if err != nil {
		return err
	}
	// A commit that the program makes leaves out what the runtime leaves out.
	excludes, err := os.ReadFile(t.excludes())
	if err == nil {
		err = os.WriteFile(filepath.Join(dot, "info", "exclude"), excludes, 0o644)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dot, "index"), index, 0o644)
}

// Absent lists the submodules, by their paths, whose files are not in the tree.
func (t *Tree) Absent() []string { return t.absent }

// Close removes the tree.
func (t *Tree) Close() error {
	defer t.held.Close()
	return sandbox.RemoveAll(filepath.Dir(t.Dir))
}

// maxIndex limits the bytes of an index.
const maxIndex = 256 << 20

// readPlain reads a file that is no link and no pipe.
func readPlain(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxIndex) {
		err = fmt.Errorf("%s is no plain file of at most %d bytes", path, maxIndex)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, maxIndex))
}
