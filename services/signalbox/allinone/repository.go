package allinone

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Repository returns the root of the git repository that the directory is or lies in. Its
// error names the fault and the remedy. A repository that git or Signalbox cannot copy whole,
// such as a shallow clone, is one.
func Repository(ctx context.Context, dir string) (root string, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		if owner, name, named := strings.Cut(dir, "/"); named && owner != "" && owner[0] != '.' && name != "" && !strings.Contains(name, "/") {
			return "", errors.New("there is no such directory; a repository of a forge needs --forge-url, such as https://api.github.com/")
		}
		return "", errors.New("there is no such directory")
	}
	g := git.New(dir).WithEnv("GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1")
	if _, err := g.Run(ctx, "rev-parse", "--git-dir"); err != nil {
		return "", refused(ctx, dir, err)
	}
	if root, err = g.Run(ctx, "rev-parse", "--show-toplevel"); err != nil || root == "" { // a bare one
		root = dir
	}
	return root, whole(ctx, g, root)
}

// refused says in a sentence why git reads no repository in the directory.
func refused(ctx context.Context, dir string, err error) error {
	failed := (*git.Error)(nil)
	if !errors.As(err, &failed) {
		return err
	}
	switch says := failed.Stderr; {
	case strings.Contains(says, "not a git repository"):
		return errors.New("it is not a git repository; `git init` makes it one")
	case strings.Contains(says, "dubious ownership"):
		// Configuration such as safe.directory is not read: it is the machine's.
		owner := ""
		if info, err := os.Stat(dir); err == nil {
			if stat, ok := info.Sys().(*syscall.Stat_t); ok {
				owner = fmt.Sprintf(" (uid %d)", stat.Uid)
			}
		}
		return fmt.Errorf("it belongs to another user%s, and git reads it for its owner alone: run signalbox as that user, "+
			"or make it yours with `chown -R %d %s`; the setting safe.directory does not count here", owner, os.Getuid(), term.Quote(dir))
	case strings.Contains(says, "repository extension"), strings.Contains(says, "repo version"), strings.Contains(says, "ref storage"):
		version, _ := git.Version(ctx)
		first, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimPrefix(says, "fatal: "), ":\n\t", " "), "\n")
		return fmt.Errorf("git %s cannot read it (%s): install the git that made it, or a newer one", version, strings.TrimSpace(first))
	}
	return err
}

// whole returns why not all of the history can be copied, and the command that helps.
func whole(ctx context.Context, g git.Runner, root string) error {
	at := term.Quote(root)
	if format, err := g.Run(ctx, "rev-parse", "--show-object-format"); err == nil && format != "sha1" {
		return fmt.Errorf("its objects have %s names, and Signalbox works with sha1: make a copy with "+
			"`git init COPY && git -C %s fast-export --all | git -C COPY fast-import`", format, at)
	}
	if shallow, err := g.Run(ctx, "rev-parse", "--is-shallow-repository"); err == nil && shallow == "true" {
		return fmt.Errorf("it is a shallow clone, whose history is incomplete: run `git -C %s fetch --unshallow`; "+
			"for actions/checkout set fetch-depth: 0", at)
	}
	promised, err := g.Run(ctx, "config", "--get-regexp", `^(remote\..*\.promisor|extensions\.partialclone)$`)
	if err != nil || promised == "" {
		return nil
	}
	if n, err := missing(ctx, g); err == nil && n > 0 {
		return fmt.Errorf("it is a partial clone, and %d objects of its history are not there: run `git -C %s fetch --refetch --no-filter`", n, at)
	}
	return nil
}

// missing counts the objects of the history of HEAD that a partial clone lacks.
func missing(ctx context.Context, g git.Runner) (int, error) {
	var c absent
	err := g.Stream(ctx, nil, &c, "rev-list", "--objects", "--missing=print", "HEAD")
	return c.n, err
}

// absent counts the lines that begin with a question mark.
type absent struct {
	n      int
	inside bool // of a line
}

// Write implements io.Writer.
func (a *absent) Write(p []byte) (int, error) {
	for _, b := range p {
		if !a.inside && b == '?' {
			a.n++
		}
		a.inside = b != '\n'
	}
	return len(p), nil
}
