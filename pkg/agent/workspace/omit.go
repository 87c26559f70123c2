package workspace

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// omit leaves out of the change the new files that no change may have and that it does not
// need: links that lead out of the tree, repositories within the repository, core dumps and
// names with characters that do not show. A file that the base tracks is never left out.
//
// Git gets them in the file of excludes, before it reads the tree: it does not enter what it
// ignores. No file of the tree is opened.
func (t *Tree) omit(ctx context.Context) error {
	u, err := t.list(ctx, "")
	if err != nil {
		return err
	}
	if t.once {
		t.listed = &u
	}
	var patterns strings.Builder
	for _, name := range u.others {
		if name == "" {
			continue
		}
		err := filepath.WalkDir(filepath.Join(t.Dir, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // git says what it cannot read
			}
			rel, err := filepath.Rel(t.Dir, path)
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == ".git" {
				return filepath.SkipDir
			}
			pattern, unwanted := t.unwanted(path, rel, d)
			if !unwanted {
				return nil
			}
			if !t.omitted[rel] {
				if t.omitted == nil {
					t.omitted = map[string]bool{}
				}
				t.omitted[rel] = true
				patterns.WriteString(pattern + "\n")
			}
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		})
		if err != nil {
			return unreadable(err)
		}
	}
	return t.excludeToo(patterns.String())
}

// core matches the name of the memory of a process that crashed.
var core = lazyregexp.New(`^core\.\d+$`)

// unwanted reports whether a new file or directory is no part of a change, and returns the
// pattern of git that matches it alone.
func (t *Tree) unwanted(path, name string, d fs.DirEntry) (pattern string, unwanted bool) {
	base := d.Name()
	pattern = "/" + escape(filepath.ToSlash(name))
	switch {
	case strings.ContainsFunc(base, func(r rune) bool { return unicode.IsControl(r) }):
		if strings.ContainsAny(base, "\n\r") { // no pattern has one
			pattern = strings.NewReplacer("\n", "?", "\r", "?").Replace(pattern)
		}
		return pattern, true
	case d.IsDir():
		if path == t.Dir {
			return "", false
		}
		_, err := os.Lstat(filepath.Join(path, ".git"))
		return pattern + "/", err == nil && committed(filepath.Join(path, ".git"))
	case d.Type()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		return pattern, err == nil && leadsOut(name, to)
	case core.MatchString(base):
		return pattern, d.Type().IsRegular()
	}
	return "", false
}

// committed reports whether a directory .git is that of a repository with commits, or is
// no directory. One without is what a generator of projects made.
func committed(dot string) bool {
	info, err := os.Lstat(dot)
	if err != nil || !info.IsDir() {
		return err == nil
	}
	if _, err := os.Lstat(filepath.Join(dot, "packed-refs")); err == nil {
		return true
	}
	heads, err := os.ReadDir(filepath.Join(dot, "refs", "heads"))
	return err != nil || len(heads) > 0
}

// leadsOut reports whether a link's target is outside of the tree, or in its git directory.
func leadsOut(name, to string) bool {
	at := filepath.Join(filepath.Dir(name), to)
	first, _, _ := strings.Cut(filepath.ToSlash(at), "/")
	return filepath.IsAbs(to) || !filepath.IsLocal(at) || strings.EqualFold(first, ".git")
}

// unnest removes the .git of the repositories within the tree that have no commits, and of
// those among tracked files: the files there are part of the change, and git would read the
// configuration of a repository.
func (t *Tree) unnest(paths []string) error {
	for _, name := range paths {
		if err := sandbox.RemoveAll(filepath.Join(t.Dir, name, ".git")); err != nil {
			return unreadable(err)
		}
		if t.omitted == nil {
			t.omitted = map[string]bool{}
		}
		t.omitted[filepath.Join(name, ".git")] = true
	}
	return nil
}
