package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/git"
)

// Version is a file of a commit.
type Version struct {
	Mode string // as git has it, "100644"; empty: the commit has no such file
	Blob string // git's id of the content
}

// Touched lists the paths that differ between two commits, sorted.
func (t *Tree) Touched(ctx context.Context, from, to string) ([]string, error) {
	if from == to {
		return nil, nil
	}
	raw, err := t.repo.fixed(ctx, git.MaxOutput, "diff-tree", "-r", "-z", "--no-renames", "--name-only", from, to)
	if err != nil {
		return nil, infra(err, "compare %s with %s", from, to)
	}
	names := strings.Split(strings.TrimSuffix(raw, "\x00"), "\x00")
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	slices.Sort(names)
	return names, nil
}

// Version returns a file of a commit.
func (t *Tree) Version(ctx context.Context, commit, name string) (Version, error) {
	raw, err := t.repo.files(ctx, commit)
	if err != nil {
		return Version{}, infra(err, "look for %s in %s", name, commit)
	}
	for wanted, from := "\t"+name+"\x00", 0; ; {
		at := strings.Index(raw[from:], wanted)
		if at < 0 {
			return Version{}, nil
		}
		at += from
		// The end of another path that has a tab is no match.
		if fields := strings.Fields(raw[strings.LastIndexByte(raw[:at], 0)+1 : at]); len(fields) == 3 {
			return Version{fields[0], fields[2]}, nil
		}
		from = at + 1
	}
}

// filesID returns git's id of the files of a commit.
func (t *Tree) filesID(ctx context.Context, commit string) (string, error) {
	out, err := t.repo.fixed(ctx, git.MaxOutput, filesOf(commit)...)
	return strings.TrimSpace(out), err
}

// filesOf returns the arguments of git for the id of the files of a commit.
func filesOf(commit string) []string { return []string{"rev-parse", commit + "^{tree}"} }

// maxContent is how many bytes of a file Content reads.
const maxContent = 4 << 20

// Content returns the beginning of a file's content; nothing for a file that is none.
func (t *Tree) Content(ctx context.Context, v Version) ([]byte, error) {
	if v.Blob == "" || v.Mode == "160000" {
		return nil, nil
	}
	raw, err := t.repo.fixed(ctx, maxContent, "cat-file", "blob", v.Blob)
	if errors.Is(err, git.ErrTooLarge) {
		err = nil
	}
	if err != nil {
		return nil, infra(err, "read %s", v.Blob)
	}
	return []byte(raw), nil
}

// Store keeps a content in the cache, as a plain file.
func (t *Tree) Store(ctx context.Context, content []byte) (Version, error) {
	var out strings.Builder
	if err := t.repo.git.Stream(ctx, strings.NewReader(string(content)), &out, "hash-object", "-w", "--stdin", "--no-filters"); err != nil {
		return Version{}, infra(err, "store a file")
	}
	return Version{"100644", strings.TrimSpace(out.String())}, nil
}

// Restore puts versions of files into the tree, by path, and removes those without one.
// The tree must be as it was checked out: what is in it otherwise is lost.
func (t *Tree) Restore(ctx context.Context, versions map[string]Version) error {
	var lines strings.Builder
	for name, v := range versions { // removals first: a directory may take the place of a file
		if v.Blob == "" {
			fmt.Fprintf(&lines, "0 %s\t%s\x00", strings.Repeat("0", 40), name)
		}
	}
	for name, v := range versions {
		if v.Blob != "" {
			fmt.Fprintf(&lines, "%s %s\t%s\x00", v.Mode, v.Blob, name)
		}
	}
	in, err := t.spool(strings.NewReader(lines.String()))
	if err != nil {
		return infra(err, "put files back")
	}
	defer in.Close()
	r, err := t.inside(ctx, sandbox.Command{
		Argv: []string{"sh", "-c", restore, "restore", t.Head}, Dir: t.Dir, Env: t.git.Variables(), Stdin: in,
	})
	if err == nil && !r.OK() {
		err = fmt.Errorf("%s: %s", r, r.Output)
	}
	if err != nil {
		return infra(err, "put files back")
	}
	return nil
}

// restore reads lines of git update-index, and has the files be as the index then says.
const restore = `set -e
git update-index --add --replace -z --index-info
tree=$(git write-tree)
git read-tree --reset -u "$1" # the index as the files are
git read-tree --reset -u "$tree"`
