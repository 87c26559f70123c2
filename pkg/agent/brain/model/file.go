package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"unicode/utf8"
)

const (
	maxFile    = 4 << 20 // bytes of a file that tools read
	maxEntries = 400     // of a list
	maxFound   = 200     // lines of a search
	maxVisited = 50_000  // files of a search
)

// local returns a path below the work tree. Git's own files are not there for tools.
func (s *step) local(name string) (string, error) {
	if filepath.IsAbs(name) {
		if rel, err := filepath.Rel(s.a.Dir, name); err == nil {
			name = rel
		}
	}
	name = filepath.Clean(name)
	first, _, _ := strings.Cut(name, "/")
	switch {
	case !filepath.IsLocal(name):
		return "", fmt.Errorf("%s is not below the work tree %s", name, s.a.Dir)
	case strings.EqualFold(first, ".git"):
		return "", errors.New(".git is the runtime's: use git by run")
	}
	return name, nil
}

// content reads a plain file. A pipe or a device is none.
func (s *step) content(name string) ([]byte, error) {
	f, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, plainly(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, plainly(err)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory: list it", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no plain file", name)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s has %d bytes, more than a tool reads: take a part of it by run", name, info.Size())
	}
	all, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err == nil && (bytes.IndexByte(all, 0) >= 0 || !utf8.Valid(all)) {
		return nil, fmt.Errorf("%s: %w", name, errNoText)
	}
	return all, err
}

// plainly returns the part of an error of a file that matters.
func plainly(err error) error {
	var at *fs.PathError
	switch {
	case errors.As(err, &at) && strings.Contains(at.Err.Error(), "escapes"):
		return fmt.Errorf("%s leads out of the work tree", at.Path)
	case errors.Is(err, fs.ErrNotExist) && at != nil:
		return fmt.Errorf("there is no file %s", at.Path)
	case at != nil:
		return fmt.Errorf("%s: %w", at.Path, at.Err)
	}
	return err
}

type readArgs struct {
	Path  string `json:"path"`
	From  int    `json:"from"`
	Lines int    `json:"lines"`
}

func (s *step) read(a readArgs) (string, error) {
	name, err := s.local(a.Path)
	if err != nil {
		return "", err
	}
	all, err := s.content(name)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(string(all), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	from := max(a.From, 1)
	count := a.Lines
	if count <= 0 {
		count = 500
	}
	if from > len(lines) {
		if len(lines) == 0 {
			return "(the file is empty)", nil
		}
		return "", fmt.Errorf("%s has %d lines", name, len(lines))
	}
	to := min(from-1+count, len(lines))
	part, size := lines[from-1:to], 0
	for i, line := range part {
		if size += len(line); size > maxOutput-200 && i > 0 {
			part, to = part[:i], from-1+i
			break
		}
	}
	out := strings.Join(part, "")
	if from > 1 || to < len(lines) {
		out += fmt.Sprintf("\n[lines %d to %d of %d]\n", from, to, len(lines))
	}
	return out, nil
}

type listArgs struct {
	Path  string `json:"path"`
	Depth int    `json:"depth"`
}

func (s *step) list(a listArgs) (string, error) {
	dir, err := s.local(a.Path)
	if err != nil {
		return "", err
	}
	depth := a.Depth
	if depth <= 0 {
		depth = 2
	}
	var out strings.Builder
	n := 0
	err = fs.WalkDir(s.root.FS(), filepath.ToSlash(dir), func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			if at == dir {
				return plainly(err)
			}
			return nil
		}
		rel, _ := filepath.Rel(dir, at)
		level := strings.Count(rel, "/")
		switch {
		case rel == ".":
			if !d.IsDir() {
				return fmt.Errorf("%s is no directory: read it", at)
			}
			return nil
		case d.IsDir() && at == ".git":
			return fs.SkipDir
		case n >= maxEntries:
			return fs.SkipAll
		}
		n++
		mark := ""
		if d.IsDir() {
			mark = "/"
		} else if d.Type()&fs.ModeSymlink != 0 {
			mark = "@"
		}
		fmt.Fprintf(&out, "%s%s%s\n", strings.Repeat("  ", level), path.Base(at), mark)
		if d.IsDir() && level+1 >= depth {
			return fs.SkipDir
		}
		return nil
	})
	if n >= maxEntries {
		fmt.Fprintf(&out, "[there are more than %d: list a directory below]\n", maxEntries)
	}
	return out.String(), err
}

type grepArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Name    string `json:"name"`
}

func (s *step) grep(ctx context.Context, a grepArgs) (string, error) {
	from, err := s.local(a.Path)
	if err != nil {
		return "", err
	}
	re, err := regexp.Compile(a.Pattern)
	if err != nil {
		return "", err
	}
	if _, err := path.Match(a.Name, ""); err != nil {
		return "", fmt.Errorf("name: %w", err)
	}
	var found []string
	visited := 0
	err = fs.WalkDir(s.root.FS(), filepath.ToSlash(from), func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && at == from:
			return plainly(err)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return nil
		case d.IsDir() && (at == ".git" || d.Name() == "node_modules" && at != from):
			return fs.SkipDir
		case len(found) >= maxFound || visited >= maxVisited:
			return fs.SkipAll
		case !d.Type().IsRegular() && at != from || d.IsDir():
			return nil
		}
		if ok, _ := path.Match(a.Name, d.Name()); a.Name != "" && !ok {
			return nil
		}
		visited++
		all, err := s.content(at)
		if err != nil {
			return nil // no text
		}
		n := 0
		for line := range strings.Lines(string(all)) {
			n++
			if line = strings.TrimRight(line, "\r\n"); re.MatchString(line) && len(found) < maxFound {
				found = append(found, fmt.Sprintf("%s:%d: %s", at, n, cut(line, 400)))
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return fmt.Sprintf("no line of %d files matches", visited), nil
	case len(found) >= maxFound:
		found = append(found, fmt.Sprintf("[there may be more than %d: narrow the search]", maxFound))
	}
	return strings.Join(found, "\n"), nil
}

// cut is the beginning of a line.
func cut(line string, limit int) string {
	if len(line) <= limit {
		return line
	}
	return strings.ToValidUTF8(line[:limit], "") + "…"
}

type editArgs struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
	All  bool   `json:"all"`
}

func (s *step) edit(a editArgs) (string, error) {
	name, err := s.local(a.Path)
	if err != nil {
		return "", err
	}
	all, err := s.content(name)
	if err != nil {
		return "", err
	}
	was := string(all)
	n := strings.Count(was, a.Old)
	switch {
	case a.Old == "":
		return "", errors.New("old is empty: write makes a new file")
	case a.Old == a.New:
		return "", errors.New("old and new are the same")
	case n == 0 && strings.Contains(was, "\r\n") && !strings.Contains(a.Old, "\r"):
		return "", fmt.Errorf("the text is not in %s as it stands there; its lines end in \\r\\n", name)
	case n == 0:
		return "", fmt.Errorf("the text is not in %s as it stands there: read it again, blanks and tabs count", name)
	case n > 1 && !a.All:
		return "", fmt.Errorf("the text is in %s %d times: give more of what is around it, or set all", name, n)
	}
	if err := s.store(name, strings.ReplaceAll(was, a.Old, a.New)); err != nil {
		return "", err
	}
	line := strings.Count(was[:strings.Index(was, a.Old)], "\n") + 1
	return fmt.Sprintf("%s changed in %d places, the first at line %d", name, n, line), nil
}

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (s *step) write(a writeArgs) (string, error) {
	name, err := s.local(a.Path)
	if err != nil {
		return "", err
	}
	if err := s.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return "", plainly(err)
	}
	if err := s.store(name, a.Content); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s has %d bytes now", name, len(a.Content)), nil
}

// store writes a plain file, and keeps the rights of one that is there.
func (s *step) store(name, content string) error {
	if len(content) > maxFile {
		return fmt.Errorf("%d bytes are more than a tool writes", len(content))
	}
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return plainly(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no plain file", name)
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteString(content)
	}
	return plainly(errors.Join(err, f.Close()))
}
