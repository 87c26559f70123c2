package workspace

import (
	"bufio"
	"context"
	_ "embed" // the script
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/git"
)

// script reads the work tree and the program's commits, in the sandbox.
//
//go:embed read.sh
var script string

// left is what a program left in its work tree.
type left struct {
	tip   string // its last commit, if that descends from Head; else empty
	tree  string // git's id of the files
	aside aside
}

// aside is where a program left its work apart from the files of its tree.
type aside string

const (
	stashed   aside = "stash"      // taken
	branched  aside = "branch"     // taken
	stashLeft aside = "stash-left" // not taken: there is another change, or it is of another commit
)

// taken reports whether the work is taken from there.
func (a aside) taken() bool { return a == stashed || a == branched }

// String describes its outcome; "" if there was nothing.
func (a aside) String() string {
	switch a {
	case stashed:
		return "the change was in the stash of the work tree, and is taken from there"
	case branched:
		return "the change was on another branch of the work tree, and is taken from there"
	case stashLeft:
		return "the work tree has a stash, which is no part of the change"
	}
	return ""
}

// Aside describes the outcome of work that the program left apart from the files of its tree, such as in
// a stash; "" if it left none. It is of the newest look at the tree.
func (t *Tree) Aside() string { return t.aside.String() }

// read reads the files of the work tree, and the id of the program's last commit. It takes the
// files in.
func (t *Tree) read(ctx context.Context) (left, error) {
	var l left
	was, err := t.filesID(ctx, t.Head)
	if err != nil {
		return l, infra(err, "read the work tree")
	}
	err = t.receive(ctx, "files", "WAS="+was, func(head []string, pack *bufio.Reader) error {
		if len(head) != 4 || head[0] != "left" || !commitID.MatchString(head[2]) || head[1] != "-" && !commitID.MatchString(head[1]) {
			return t.refused("git", fmt.Sprintf("git in the sandbox answers %q", head))
		}
		l.aside = aside(head[3])
		if l.tree = head[2]; head[1] != "-" {
			l.tip = head[1]
		}
		q, err := t.quarantine(ctx, pack)
		if err != nil {
			return err
		}
		defer q.discard()
		if l.tree == was {
			return q.accept()
		}
		if kind, err := q.git.Run(ctx, "cat-file", "-t", l.tree); err != nil || kind != "tree" {
			return t.refused("pack", "the pack of the files has no tree "+l.tree)
		}
		return q.accept()
	})
	return l, err
}

// commits takes in the program's commits since Head, if wanted says so.
func (t *Tree) commits(ctx context.Context, tip string, wanted func(git.Runner) (bool, error)) (bool, error) {
	var taken bool
	err := t.receive(ctx, "commits", "TIP="+tip, func(_ []string, pack *bufio.Reader) error {
		q, err := t.quarantine(ctx, pack)
		if err != nil {
			return err
		}
		defer q.discard()
		if _, err := q.git.Run(ctx, "merge-base", "--is-ancestor", t.Head, tip); err != nil {
			return t.refused("pack", "the pack of the commits has no "+tip+" that descends from "+t.Head)
		}
		if taken, err = wanted(q.git); err != nil || !taken {
			return err
		}
		return q.accept()
	})
	return taken && err == nil, err
}

// receive runs a part of the script, with the variable that it needs, and passes on its answer: the words of a line, and a pack.
func (t *Tree) receive(ctx context.Context, part, variable string, take func(head []string, pack *bufio.Reader) error) error {
	file, err := os.CreateTemp(filepath.Dir(t.Dir), "out-*")
	if err != nil {
		return infra(err, "read the work tree")
	}
	defer file.Close()
	if err := os.Remove(file.Name()); err != nil {
		return infra(err, "read the work tree")
	}
	var stderr strings.Builder
	r, err := t.inside(ctx, sandbox.Command{
		Argv: []string{"sh", "-c", script, "read", part}, Dir: t.own(),
		Env:    append(t.git.Variables(), "TREE="+t.Dir, "SHARED="+t.Shared, "VIEW="+filepath.Join(t.own(), "view"), "START="+t.Head, variable),
		Stdout: &limited{file, 2 * t.cache.cfg.Intake.Bytes}, Stderr: &stderr,
	})
	switch {
	case errors.Is(err, errTooMuch):
		return t.refused("size", err.Error())
	case errors.As(err, new(*Refused)):
		return err
	case err != nil:
		return infra(err, "read the work tree")
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return infra(err, "read the work tree")
	}
	out := bufio.NewReader(file)
	if first, _ := out.ReadString('\n'); first != "reading\n" { // the script did not start
		return infra(fmt.Errorf("%s: %s", r, lines(stderr.String())), "read the work tree in the sandbox")
	}
	line, _ := out.ReadString('\n')
	if why, refused := strings.CutPrefix(line, "refused "); refused {
		return t.refused("git", strings.TrimSpace(why))
	}
	if !r.OK() {
		if strings.Contains(stderr.String(), "No space left on device") {
			return infra(errors.New(lines(stderr.String())), "read the work tree")
		}
		return t.refused("git", r.String()+": "+lines(stderr.String()))
	}
	return take(strings.Fields(line), out)
}

// survey refuses a work tree with more new or changed files than the intake permits. It looks at
// names, kinds and sizes; it opens no file and follows no link.
func (t *Tree) survey(ctx context.Context) error {
	max := t.cache.cfg.Intake
	var files int
	var bytes int64
	err := filepath.WalkDir(t.Dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		case d.IsDir():
			if path == filepath.Join(t.Dir, ".git") {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if files++; info.Mode().IsRegular() {
			bytes += info.Size()
		} else if strings.HasPrefix(d.Name(), ".git") && d.Type()&fs.ModeSymlink == 0 {
			name, _ := filepath.Rel(t.Dir, path)
			return t.refused("files", fmt.Sprintf("%s is no file, and git would wait for it: remove it", name))
		}
		if files > max.Files || bytes > max.Bytes {
			return fs.SkipAll
		}
		return nil
	})
	switch {
	case errors.As(err, new(*Refused)):
		return err
	case err != nil:
		return unreadable(err)
	}
	if files <= max.Files && bytes <= max.Bytes {
		return nil
	}
	return t.surveyChange(ctx) // most of it may be ignored, or as it was
}

// maxNames is how many bytes of names surveyChange reads.
const maxNames = 64 << 20

// surveyChange is survey for the files that are new or changed only.
func (t *Tree) surveyChange(ctx context.Context) error {
	max := t.cache.cfg.Intake
	raw, err := t.git.Output(ctx, maxNames, "ls-files", "-z", "--others", "--modified", "--deduplicate", "--exclude-standard")
	if errors.Is(err, git.ErrTooLarge) {
		return t.refused("files", fmt.Sprintf("more files are new or changed than the %d that a step may leave", max.Files))
	}
	if err != nil {
		return unreadable(err)
	}
	var files int
	var bytes, largest int64
	var name string
	for n := range strings.SplitSeq(strings.TrimSuffix(string(raw), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(t.Dir, n))
		if n == "" || err != nil { // removed
			continue
		}
		if files++; !info.Mode().IsRegular() {
			continue
		}
		if bytes += info.Size(); info.Size() > largest {
			largest, name = info.Size(), n
		}
	}
	switch {
	case files > max.Files:
		return t.refused("files", fmt.Sprintf("%d files are new or changed, more than the %d that a step may leave: remove them, or have git ignore them",
			files, max.Files))
	case bytes > max.Bytes:
		return t.refused("size", fmt.Sprintf("files of %d bytes are new or changed, more than the %d that a step may leave: the largest is %q with %d: remove it, or have git ignore it",
			bytes, max.Bytes, name, largest))
	}
	return nil
}
