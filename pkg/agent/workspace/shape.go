package workspace

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// Shape is what a careful reader of a change would stop at, whatever the files contain.
type Shape struct {
	Findings []string // in sentences without a full stop
	Ask      bool     // so much is deleted that people are asked
}

// Bounds of a change that deletes a great part of a tree: of its files, in per cent, and how
// many there have to be.
const (
	manyDeleted, manyShare = 5, 20
	mostDeleted, mostShare = 10, 50
	pointer                = "version https://git-lfs.github.com/spec/v1"
)

// Shape returns the shape of the change from Base to Head.
func (t *Tree) Shape(ctx context.Context) (Shape, error) {
	var s Shape
	raw, err := t.repo.git.Output(ctx, git.MaxOutput, "diff-tree", "-r", "-z", "--no-renames", "--raw", "--abbrev=40", t.Base, t.Head)
	if err != nil {
		return s, infra(err, "look at the change")
	}
	was, err := t.names(ctx, t.Base)
	if err != nil {
		return s, err
	}
	now, err := t.names(ctx, t.Head)
	if err != nil {
		return s, err
	}
	changes := parseRaw(string(raw))
	s.deleted(changes, len(was))
	s.Findings = append(s.Findings, collisions(changes, now)...)
	s.Findings = append(s.Findings, modes(changes)...)
	for _, find := range []func(context.Context, []rawChange) ([]string, error){t.endings, t.blobs} {
		found, err := find(ctx, changes)
		if err != nil {
			return s, err
		}
		s.Findings = append(s.Findings, found...)
	}
	marked, err := t.cache.Unresolved(ctx, Spec{Repo: t.repo.name, Base: t.Base, Head: t.Head})
	if err != nil {
		return s, err
	}
	for _, at := range marked {
		s.Findings = append(s.Findings, at+" has the marks of a merge conflict")
	}
	return s, nil
}

// rawChange is a line of git diff-tree --raw.
type rawChange struct {
	was, now string // modes
	blob     string // new content
	status   byte
	name     string
}

func parseRaw(z string) (all []rawChange) {
	for pair := range slices.Chunk(strings.Split(strings.TrimSuffix(z, "\x00"), "\x00"), 2) {
		if f := strings.Fields(pair[0]); len(pair) == 2 && len(f) == 5 && f[4] != "" {
			all = append(all, rawChange{strings.TrimPrefix(f[0], ":"), f[1], f[3], f[4][0], pair[1]})
		}
	}
	return all
}

// names lists the files of a commit.
func (t *Tree) names(ctx context.Context, commit string) ([]string, error) {
	raw, err := t.repo.files(ctx, commit)
	if err != nil {
		return nil, infra(err, "look at the change")
	}
	names := strings.Split(strings.TrimSuffix(raw, "\x00"), "\x00")
	for i, entry := range names {
		_, names[i], _ = strings.Cut(entry, "\t")
	}
	return names, nil
}

// deleted judges how much of a tree a change deletes.
func (s *Shape) deleted(changes []rawChange, files int) {
	n := 0
	for _, c := range changes {
		if c.status == 'D' {
			n++
		}
	}
	if n >= manyDeleted && 100*n >= manyShare*files {
		s.Findings = append(s.Findings, fmt.Sprintf("it deletes %d of %d files", n, files))
	}
	s.Ask = n >= mostDeleted && 100*n >= mostShare*files
}

// collisions finds new paths that a file system which ignores case cannot hold next to others.
func collisions(changes []rawChange, now []string) (found []string) {
	there := map[string][]string{} // by the folded path of a file or directory
	for _, name := range now {
		for at := name; at != "."; at = path.Dir(at) {
			key := strings.ToLower(at)
			if slices.Contains(there[key], at) {
				break
			}
			there[key] = append(there[key], at)
		}
	}
	told := map[string]bool{}
	for _, c := range changes {
		if c.status != 'A' {
			continue
		}
		for at := c.name; at != "."; at = path.Dir(at) {
			key := strings.ToLower(at)
			if same := there[key]; len(same) > 1 && !told[key] {
				told[key] = true
				found = append(found, strings.Join(same, " and ")+" differ in case alone, which macOS and Windows cannot check out")
			}
		}
	}
	return found
}

// modes finds files that became executable, or are so no longer.
func modes(changes []rawChange) (found []string) {
	for _, c := range changes {
		switch {
		case c.was == "100755" && c.now == "100644":
			found = append(found, c.name+" is no longer executable")
		case c.was == "100644" && c.now == "100755":
			found = append(found, c.name+" became executable")
		}
	}
	return found
}

// endings finds files in which the line ends changed and nothing else.
func (t *Tree) endings(ctx context.Context, changes []rawChange) (found []string, err error) {
	raw, err := t.repo.git.Output(ctx, git.MaxOutput, "diff", "-z", "--no-renames", "--no-ext-diff", "--numstat", "--ignore-cr-at-eol", t.Base, t.Head)
	if err != nil {
		return nil, infra(err, "look at the change")
	}
	other := map[string]bool{}
	for line := range strings.SplitSeq(string(raw), "\x00") {
		if f := strings.SplitN(line, "\t", 3); len(f) == 3 && f[0]+f[1] != "00" {
			other[f[2]] = true
		}
	}
	for _, c := range changes {
		if c.status == 'M' && c.was == c.now && !other[c.name] {
			found = append(found, c.name+" changes in its line ends alone")
		}
	}
	return found, nil
}

// blobs finds new content of files that belong into Git LFS, but are no pointers.
func (t *Tree) blobs(ctx context.Context, changes []rawChange) (found []string, err error) {
	v, err := t.Version(ctx, t.Head, ".gitattributes")
	if err != nil || v.Blob == "" {
		return nil, err
	}
	content, err := t.Content(ctx, v)
	if err != nil {
		return nil, err
	}
	var patterns []string
	for line := range strings.Lines(string(content)) {
		if f := strings.Fields(line); len(f) > 1 && slices.Contains(f[1:], "filter=lfs") && f[0][0] != '#' {
			patterns = append(patterns, f[0])
		}
	}
	for _, c := range changes {
		if c.status == 'D' || !slices.ContainsFunc(patterns, func(p string) bool { return attributed(p, c.name) }) {
			continue
		}
		content, err := t.Content(ctx, Version{c.now, c.blob})
		if err != nil {
			return nil, err
		}
		if !bytes.HasPrefix(content, []byte(pointer)) {
			found = append(found, c.name+" belongs into Git LFS, and is in the commit itself: add it with git lfs")
		}
	}
	return found, nil
}

// attributed reports whether a simple pattern of .gitattributes matches a path.
func attributed(pattern, name string) bool {
	if dir, below := strings.CutSuffix(strings.TrimPrefix(pattern, "/"), "/**"); below {
		return strings.HasPrefix(name, dir+"/")
	}
	if !strings.Contains(strings.Trim(pattern, "/"), "/") {
		name = path.Base(name)
	}
	ok, err := path.Match(strings.TrimPrefix(strings.TrimPrefix(pattern, "**/"), "/"), name)
	return err == nil && ok
}
