package workspace

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// maxPatch is how many bytes of a patch Diff keeps.
const maxPatch = 256 << 10

// Diff is the change between two commits or a commit and the tree, without
// ignored files.
type Diff struct {
	Tree  string // git's id of the content: the same content has the same id, however it came about
	Files []File
	Patch string // the beginning of it, when Cut
	Cut   bool
}

// File is one changed file. A rename is a removal and an addition.
type File struct {
	Path           string
	Status         string // A added, D deleted, M modified, T changed its type
	Added, Deleted int    // lines
	Binary         bool
}

// Empty reports whether nothing changed.
func (d Diff) Empty() bool { return len(d.Files) == 0 }

// String returns a line for people: how many files and lines changed.
func (d Diff) String() string {
	var added, deleted int
	for _, f := range d.Files {
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	files := "files"
	if len(d.Files) == 1 {
		files = "file"
	}
	return fmt.Sprintf("%d %s, +%d -%d lines", len(d.Files), files, added, deleted)
}

// Diff returns the change of the tree against Head.
func (t *Tree) Diff(ctx context.Context) (Diff, error) {
	now, err := t.state(ctx, "diff\n")
	if err != nil {
		return Diff{}, err
	}
	return t.diff(ctx, t.Head, now)
}

// Change returns the change of the tree against Base: of the whole work.
func (t *Tree) Change(ctx context.Context) (Diff, error) {
	now, err := t.state(ctx, "diff\n")
	if err != nil {
		return Diff{}, err
	}
	return t.diff(ctx, t.Base, now)
}

func (t *Tree) diff(ctx context.Context, from, to string) (Diff, error) {
	var d Diff
	var err error
	if d.Tree, err = t.filesID(ctx, to); err != nil {
		return Diff{}, infra(err, "diff")
	}
	raw, err := t.repo.fixed(ctx, git.MaxOutput, "diff-tree", "-r", "-z", "--no-renames", "--raw", "--numstat", from, to)
	if err != nil {
		return Diff{}, infra(err, "diff")
	}
	if d.Files, err = parseFiles(raw); err != nil {
		return Diff{}, infra(err, "diff")
	}
	patch, err := t.repo.fixed(ctx, maxPatch, "diff-tree", "-r", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", from, to)
	if d.Cut = errors.Is(err, git.ErrTooLarge); d.Cut {
		err = nil
	}
	if err != nil {
		return Diff{}, infra(err, "diff")
	}
	d.Patch = strings.ToValidUTF8(patch, "\uFFFD")
	return d, nil
}

// parseFiles parses raw lines, each with the status and a path, and then the same
// number of numstat lines.
func parseFiles(z string) ([]File, error) {
	var files []File
	at := map[string]int{}
	tokens := strings.Split(strings.TrimSuffix(z, "\x00"), "\x00")
	for i := 0; i < len(tokens); i++ {
		token := tokens[i]
		switch {
		case token == "":
		case token[0] == ':':
			if i++; i == len(tokens) {
				return nil, fmt.Errorf("no path after %q", token)
			}
			at[tokens[i]] = len(files)
			files = append(files, File{Path: tokens[i], Status: token[len(token)-1:]})
		default:
			n := strings.SplitN(token, "\t", 3)
			if len(n) != 3 {
				return nil, fmt.Errorf("no numbers in %q", token)
			}
			f := &files[at[n[2]]]
			f.Binary = n[0] == "-"
			f.Added, _ = strconv.Atoi(n[0])
			f.Deleted, _ = strconv.Atoi(n[1])
		}
	}
	return files, nil
}
