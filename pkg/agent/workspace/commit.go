package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/git"
)

// Commit commits all files that are not ignored, on top of the program's own
// commits, and returns the new head. moved is false if nothing had changed.
// Trailers are lines such as
// "Signalbox-State: implementing".
func (t *Tree) Commit(ctx context.Context, message string, trailers ...string) (head string, moved bool, err error) {
	message = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(message, "\x00", ""), "\uFFFD"))
	if message == "" {
		return "", false, errors.New("commit: no message")
	}
	message += "\n"
	for i, line := range trailers {
		if i == 0 {
			message += "\n"
		}
		if key, _, ok := strings.Cut(line, ": "); !ok || strings.ContainsAny(key, " \n") || strings.Contains(line, "\n") {
			return "", false, fmt.Errorf("commit: trailer %q: want one line, Key: value", line)
		}
		message += line + "\n"
	}
	head, err = t.state(ctx, message)
	if err != nil || head == t.Head {
		return head, false, err
	}
	if err := t.repo.keep(ctx, head); err != nil {
		return "", false, infra(err, "commit")
	}
	t.Head = head
	if t.seen != nil {
		t.seen = &left{tree: t.seen.tree}
	}
	if t.aside.taken() { // the files are not in the tree yet
		if _, err := t.git.Run(ctx, "read-tree", "--reset", "-u", head); err != nil {
			return "", false, infra(err, "commit")
		}
	}
	if err := t.equip(); err != nil {
		return "", false, infra(err, "commit")
	}
	return head, true, nil
}

// Bundle stores the commits between Base and Head in the object store and returns
// the object's name, or "" if there are none. The name is made of the content, so
// Bundle is idempotent.
func (t *Tree) Bundle(ctx context.Context) (string, error) {
	if t.Head == t.Base {
		return "", nil
	}
	name, err := t.cache.put(ctx, t.repo, t.Base, t.Head)
	if err != nil {
		return "", infra(err, "bundle %s", t.Head)
	}
	return name, nil
}

// state returns a commit with the tree as it is. That is Head, the program's own last
// commit, or a new one on top of it with the message. No reference has it yet.
func (t *Tree) state(ctx context.Context, message string) (string, error) {
	if info, err := os.Lstat(t.Dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%w: %s is not there any more", ErrGone, t.Dir)
	}
	if err := seal(filepath.Join(t.repo.dir, "config"), bare); err != nil {
		return "", infra(err, "seal the cache of %s", t.repo.name)
	}
	found, err := t.look(ctx)
	if err != nil {
		return "", err
	}
	tip, err := t.intake(ctx, found.tip)
	if err != nil {
		return "", err
	}
	if tip, err = t.without(ctx, tip, found.tree); err != nil {
		return "", err
	}
	was, err := t.filesID(ctx, tip)
	if err != nil {
		return "", infra(err, "commit")
	}
	if was == found.tree {
		return tip, nil
	}
	who, date := t.cache.cfg.Identity, t.cache.cfg.Now().Format(time.RFC3339)
	var out bytes.Buffer
	err = t.repo.git.WithIdentity(who.Name, who.Email).
		WithEnv("GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date).
		Stream(ctx, strings.NewReader(message), &out, "commit-tree", "-p", tip, found.tree)
	if err != nil {
		return "", infra(err, "commit")
	}
	made := strings.TrimSpace(out.String())
	t.repo.remember(filesOf(made), found.tree)
	return made, nil
}

// Hold makes Diff, Check, Commit, Change and Leftover read the tree once, as it is at the first of them: what
// is checked is what is committed, and reading costs a sandbox each time. Nothing may work in the
// tree any more. It holds until the function that it returns is called.
func (t *Tree) Hold() (release func()) {
	t.once = true
	return func() { t.once, t.seen, t.listed = false, nil, nil }
}

// look reads the tree as it is, or as it was read since Hold.
func (t *Tree) look(ctx context.Context) (left, error) {
	if t.seen != nil {
		return *t.seen, nil
	}
	for _, phase := range []func(context.Context) error{t.survey, t.omit, t.flatten} {
		if err := phase(ctx); err != nil {
			return left{}, err
		}
	}
	found, err := t.read(ctx)
	if err != nil {
		return left{}, err
	}
	if t.aside = found.aside; t.once {
		t.seen = &found
	}
	return found, nil
}

// intake takes in the program's own commits and returns the last one. It returns Head if the
// program made none that descends from Head, or if one is by another identity than ours.
func (t *Tree) intake(ctx context.Context, tip string) (string, error) {
	if tip == "" || tip == t.Head {
		return t.Head, nil // the program rewrote history: its files count, its commits do not
	}
	checker := t.cache.checker.With(outbound.Rules{Identity: t.cache.cfg.Identity})
	taken, err := t.commits(ctx, tip, func(g git.Runner) (bool, error) {
		foreign, err := checker.Foreign(ctx, g, tip, t.Head)
		if err != nil {
			return false, infra(err, "read the commits of the program")
		}
		return !foreign, nil
	})
	if err != nil || !taken {
		return t.Head, err
	}
	return tip, nil
}

// without returns the program's last commit, or Head if the program committed files that are no
// part of the change: each commit would have them.
func (t *Tree) without(ctx context.Context, tip, tree string) (string, error) {
	if tip == t.Head {
		return tip, nil
	}
	raw, err := t.repo.git.Output(ctx, git.MaxOutput, "diff-tree", "-r", "-z", "--no-renames", "--name-only", "--diff-filter=D", tip, tree)
	if err != nil {
		return "", infra(err, "commit")
	}
	for name := range strings.SplitSeq(strings.Trim(string(raw), "\x00"), "\x00") {
		if name == "" {
			continue
		}
		was, err := t.Version(ctx, t.Head, name)
		if err != nil {
			return "", err
		}
		if was.Blob == "" {
			return t.Head, nil
		}
	}
	return tip, nil
}
