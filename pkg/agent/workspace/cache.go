// Package workspace makes work trees for agents and stores their commits as git
// bundles in an object store. So roles on different machines continue each other's
// work without a shared disk and without a forge's token. Forge-side services make
// the first bundle from the forge with Snapshot, and Push brings the work back.
//
//	DIR/repos/REPO.git    objects of one code repository, bare
//	DIR/repos/REPO.lock   held while it is made or filled
//	DIR/trees/ID/lock     held while the tree is in use
//	DIR/trees/ID/git      the runtime's own git directory of the tree, with its index
//	DIR/trees/ID/work     the work tree, with a repository of the program's
//
// The program in the tree is not trusted, and a repository's configuration and
// hooks run programs. A git worktree shares both with its repository. So a tree
// here has a repository of its own, which borrows the cached objects (alternates)
// and is removed with the tree. Nothing outside the sandbox reads it, or opens a file
// of the tree (ADR 92): git in the sandbox does, with a git directory of the
// runtime's own, and sends out a pack. That is checked, and indexed in a quarantine.
// In a sandbox the cached objects are read-only to the program. Without one the
// program has all rights of this user.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/base/filelock"
	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/git"
)

// Errors that a caller can distinguish, in addition to brain.ErrInfrastructure.
var (
	// ErrGone: the program removed or replaced its work tree.
	ErrGone = errors.New("the work tree is gone")
	// ErrUnreadable: git cannot read the work tree that the program left.
	ErrUnreadable = errors.New("the work tree cannot be read")
	// ErrSource: there is nothing to work on: no repository, no commit, no such branch, a shallow clone.
	ErrSource = errors.New("repository cannot be worked on")
	// ErrForeign: the branch on the forge holds commits that are not in the work.
	ErrForeign = errors.New("the branch holds other commits")
	// ErrRejected: the forge refused the push.
	ErrRejected = errors.New("push refused by the forge")
)

// Objects stores bundles.
type Objects interface {
	// Put stores the content of r under the name, and replaces an object of that name.
	Put(ctx context.Context, name string, r io.Reader) error
	// Get opens an object; a missing one is an error.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
}

// Prober is an Objects that tells without reading an object whether it is there.
type Prober interface {
	Has(ctx context.Context, name string) (bool, error)
}

// Config configures a Cache.
type Config struct {
	Dir      string // of this node alone; any number of its processes may share it
	Objects  Objects
	Identity outbound.Identity // of commits; empty: outbound.DefaultIdentity
	Now      func() time.Time  // dates commits; nil: time.Now
	// Secrets finds the credentials that no push may have; nil: those that look like one.
	Secrets *secret.Scanner
	// Protected are paths that no push may change, in addition to those of outbound.DefaultRules.
	Protected []string
	// Sandbox is where git reads the work trees after programs; zero: it is not confined, as the
	// programs are not.
	Sandbox sandbox.Sandbox
	Intake  Intake         // limits of what is taken in
	Refused func(*Refused) // called for what is not taken in, from the goroutine of the call; may be nil
}

// Cache holds the repositories and work trees of one node.
type Cache struct {
	cfg     Config
	checker *outbound.Checker // of what a push adds
	kept    sync.Map          // files of references that git found to be of a commit that is there
	known   outputs
}

// New returns a Cache and creates its directories.
func New(cfg Config) (*Cache, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Identity == (outbound.Identity{}) {
		cfg.Identity = outbound.DefaultIdentity()
	}
	cfg.Intake = cfg.Intake.withDefaults()
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	// Resolved, because git reports and compares real paths.
	// Nobody else on the machine reads the code. An earlier build let them.
	if err = os.MkdirAll(dir, 0o700); err == nil {
		err = os.Chmod(dir, 0o700)
	}
	if err == nil {
		cfg.Dir, err = filepath.EvalSymlinks(dir)
	}
	for _, sub := range []string{"repos", "trees"} {
		if err == nil {
			err = os.MkdirAll(filepath.Join(cfg.Dir, sub), 0o700)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	rules := outbound.DefaultRules()
	rules.Identity = cfg.Identity
	rules.Forbidden = append(rules.Forbidden, cfg.Protected...)
	if cfg.Secrets == nil {
		if cfg.Secrets, err = secret.New(); err != nil {
			return nil, fmt.Errorf("workspace: %w", err)
		}
	}
	return &Cache{cfg: cfg, checker: outbound.New(rules, cfg.Secrets)}, nil
}

// infra marks a fault as one that says nothing about the work.
func infra(err error, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %w", brain.ErrInfrastructure, fmt.Sprintf(format, args...), err)
}

// unreadable blames the program, unless the disk or the context is to blame.
func unreadable(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		strings.Contains(err.Error(), "No space left on device") {
		return infra(err, "read the work tree")
	}
	return fmt.Errorf("%w: %w", ErrUnreadable, err)
}

// Sweep removes the trees of killed processes and returns their number. It removes
// partly fetched bundles after a day. Trees that a process uses stay.
func (c *Cache) Sweep(ctx context.Context) (int, error) {
	making, err := filelock.Wait(ctx, c.treesLock())
	if err != nil {
		return 0, err
	}
	defer making.Close()
	dirs, err := os.ReadDir(filepath.Join(c.cfg.Dir, "trees"))
	if err != nil {
		return 0, err
	}
	bundles, _ := filepath.Glob(filepath.Join(c.cfg.Dir, "bundle-*"))
	var n int
	var errs error
	for _, path := range bundles {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			errs = errors.Join(errs, os.RemoveAll(path))
		}
	}
	for _, d := range dirs {
		dir := filepath.Join(c.cfg.Dir, "trees", d.Name())
		held, err := filelock.Try(filepath.Join(dir, "lock"))
		if errors.Is(err, filelock.ErrHeld) {
			continue
		}
		if err == nil {
			held.Close()
		}
		if err := sandbox.RemoveAll(dir); err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		n++
	}
	return n, errs
}

func (c *Cache) treesLock() string { return filepath.Join(c.cfg.Dir, "trees.lock") }

// repository is the cached bare repository of one code repository.
type repository struct {
	name  string
	dir   string
	git   git.Runner // in the bare repository
	kept  *sync.Map  // of the cache, as is known
	known *outputs
}

func (c *Cache) repository(name string) (repository, error) {
	if name == "" {
		return repository{}, errors.New("no repository named")
	}
	dir := filepath.Join(c.cfg.Dir, "repos", url.PathEscape(name)+".git")
	return repository{name, dir, runner(dir).WithEnv("GIT_DIR=" + dir), &c.kept, &c.known}, nil
}

func runner(dir string) git.Runner {
	return git.New(dir).
		WithEnv("GIT_NO_LAZY_FETCH=1").
		WithConfig("gc.auto", "0"). // trees borrow objects no reference here holds
		WithConfig("core.quotePath", "false").
		WithConfig("core.bigFileThreshold", "16m").
		WithConfig("diff.ignoreSubmodules", "dirty") // looking into one would run git with its configuration
}

// keep returns the reference that keeps a commit whose whole history is cached.
func keep(commit string) string { return "refs/signalbox/keep/" + commit }

// bare returns the whole configuration of a cached repository.
const bare = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"

// open locks the repository, creates it if need be and writes its configuration.
// The caller must close the returned file to unlock it.
func (r repository) open(ctx context.Context) (*os.File, error) {
	held, err := filelock.Wait(ctx, strings.TrimSuffix(r.dir, ".git")+".lock")
	if err != nil {
		return nil, err
	}
	if !r.made() {
		err = r.make()
	}
	if err == nil {
		err = errors.Join(r.strip(), seal(filepath.Join(r.dir, "config"), bare))
	}
	if err != nil {
		held.Close()
		return nil, err
	}
	return held, nil
}

// parts are the files and directories of a cached repository.
var parts = []string{"HEAD", "FETCH_HEAD", "config", "objects", "packed-refs", "refs"}

// strip removes all files but the parts, since git would read them. commondir names another
// configuration, info has attributes and grafts, worktrees and modules have configurations
// of their own. Lock files stay: other processes own them.
func (r repository) strip() error {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains(parts, e.Name()) && !strings.HasSuffix(e.Name(), ".lock") {
			err = errors.Join(err, os.RemoveAll(filepath.Join(r.dir, e.Name())))
		}
	}
	for _, name := range []string{"alternates", "http-alternates"} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(r.dir, "objects", "info", name)))
	}
	return err
}

// made reports whether the repository is complete.
func (r repository) made() bool {
	for _, part := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(r.dir, part)); err != nil {
			return false
		}
	}
	return true
}

// make creates the repository in another directory and renames it, since the process may
// be killed half-way.
func (r repository) make() error {
	half := strings.TrimSuffix(r.dir, ".git") + ".new"
	if err := errors.Join(os.RemoveAll(half), os.RemoveAll(r.dir)); err != nil {
		return err
	}
	for _, part := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(half, part), 0o755); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": bare} {
		if err := os.WriteFile(filepath.Join(half, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return os.Rename(half, r.dir)
}

// seal replaces the file at path by a plain file with the text.
func seal(path, text string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().IsRegular() {
		if was, err := os.ReadFile(path); err == nil && string(was) == text {
			return nil
		}
	}
	// A write through a link would leave the directory.
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
