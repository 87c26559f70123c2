package workspace

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// leftover is what coding agents and tools leave behind for themselves, as patterns of git.
// These are settings and caches at the root, and what is fetched or derived anywhere.
func leftover() []string {
	return []string{
		"/.claude/", "/.codex/", "/.gemini/", "/.opencode/", "/.goose/", "/.aider*",
		"node_modules", ".venv", "__pycache__/", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".tox/", ".nox/", ".ipynb_checkpoints/",
		".DS_Store", "Thumbs.db", "desktop.ini", ".idea/", "*.orig", "*.rej", "*.swp", "*.swo", "*~", ".#*",
		"nohup.out", "npm-debug.log*", "yarn-error.log", "hs_err_pid*.log", "*.stackdump", ".coverage",
		".env", ".env.local", // secrets of a machine
	}
}

// excludes is the file of the patterns that are no part of a change, in addition to those of
// the repository itself, which win.
func (t *Tree) excludes() string { return filepath.Join(filepath.Dir(t.Dir), "exclude") }

// exclude leaves out of changes what is left behind, but for the patterns that match a file
// of the commit that is checked out.
func (t *Tree) exclude(ctx context.Context) error {
	files, err := t.repo.files(ctx, t.Head)
	if err != nil {
		return err
	}
	t.patterns = leftover()
	for part := range elements(files) {
		t.patterns = slices.DeleteFunc(t.patterns, func(p string) bool { return covers(p, part) })
	}
	if err := os.WriteFile(t.excludes(), []byte(strings.Join(t.patterns, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	t.git = t.git.WithConfig("core.excludesFile", t.excludes())
	return nil
}

// elements returns the directories and names in the paths of a list of files, each once: "/pkg/" for a
// directory at the root, "agent/" for another, "/README.md" and "tree.go" for files.
func elements(files string) map[string]bool {
	all := map[string]bool{}
	for file := range strings.SplitSeq(strings.TrimSuffix(files, "\x00"), "\x00") {
		_, name, _ := strings.Cut(file, "\t")
		root := "/"
		for element := range strings.SplitAfterSeq(name, "/") {
			all[root+element], root = true, ""
		}
	}
	return all
}

// covers reports whether a pattern of leftover matches an element.
func covers(pattern, element string) bool {
	if strings.HasPrefix(pattern, "/") && !strings.HasPrefix(element, "/") || strings.HasSuffix(pattern, "/") && !strings.HasSuffix(element, "/") {
		return false
	}
	ok, _ := path.Match(strings.Trim(pattern, "/"), strings.Trim(element, "/"))
	return ok
}

// Leftover lists the files and directories that the repository does not ignore and that are
// no part of a change. Coding agents and tools left them for themselves.
func (t *Tree) Leftover(ctx context.Context) ([]string, error) {
	raw, err := t.git.Output(ctx, git.MaxOutput, "ls-files", "-z", "--others", "--ignored", "--directory", "--exclude-from="+t.excludes())
	if err != nil {
		return nil, unreadable(err)
	}
	names := slices.Collect(maps.Keys(t.omitted))
	slices.Sort(names)
	if len(raw) == 0 {
		return names, nil
	}
	var why bytes.Buffer
	err = t.git.Stream(ctx, bytes.NewReader(raw), &why, "check-ignore", "-z", "--stdin", "--verbose")
	if err != nil && git.ExitCode(err) != 1 { // 1: none is ignored
		return nil, unreadable(err)
	}
	const fields = 4 // source, line, pattern, path
	for f := range slices.Chunk(strings.Split(strings.TrimSuffix(why.String(), "\x00"), "\x00"), fields) {
		if len(f) == fields && f[0] == t.excludes() && slices.Contains(t.patterns, f[2]) && !slices.Contains(t.settled, f[fields-1]) {
			names = append(names, f[fields-1])
		}
	}
	slices.Sort(names)
	return names, nil
}

// StartChange takes the tree as it is for the beginning of a change. Files that are not tracked
// are no part of it, and those that are tracked are as they were checked out.
func (t *Tree) StartChange(ctx context.Context) error {
	var err error
	if t.settled, err = t.Leftover(ctx); err != nil {
		return err
	}
	raw, err := t.git.Output(ctx, git.MaxOutput, "ls-files", "-z", "--others", "--exclude-standard", "--directory")
	if err != nil {
		return unreadable(err)
	}
	file, err := os.OpenFile(t.excludes(), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return infra(err, "settle the work tree")
	}
	defer file.Close()
	for name := range strings.SplitSeq(strings.Trim(string(raw), "\x00"), "\x00") {
		if name == "" || strings.Contains(name, "\n") {
			continue
		}
		if _, err := file.WriteString("/" + escape(name) + "\n"); err != nil {
			return infra(err, "settle the work tree")
		}
	}
	_, _ = t.git.Run(ctx, "update-index", "-q", "--refresh") // its exit code says that there are changes
	if _, err := t.git.Run(ctx, "checkout-index", "--force", "--all"); err != nil {
		return infra(err, "settle the work tree")
	}
	return nil
}

// escape returns a path as a pattern that matches it alone.
func escape(name string) string {
	name = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
	if trimmed := strings.TrimRight(name, " "); trimmed != name {
		name = trimmed + strings.Repeat(`\ `, len(name)-len(trimmed))
	}
	return name
}
