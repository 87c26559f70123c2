package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
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
	for element := range elements(files) {
		t.patterns = slices.DeleteFunc(t.patterns, func(p string) bool { return covers(p, element) })
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

// untracked lists the files of a work tree that git does not track.
type untracked struct {
	left   []string // Leftover, without those that omit leaves out
	others []string // neither ignored nor left: files, and directories without a tracked one
}

// listing reads names of the work tree, in the sandbox: of the ignored files those that a pattern of its first
// argument, a file, matches, as check-ignore describes them; an empty name; the others. With a third argument it
// then has the tracked files be as they were checked out. Its second argument names files of its own.
const listing = `set -e
git ls-files -z --others --ignored --directory --exclude-from="$1" >"$2"
if [ -s "$2" ] && git check-ignore -z --stdin --verbose <"$2" >"$2.why"; then # it fails where none is ignored
	cat "$2.why"
fi
printf '\0'
git ls-files -z --others --exclude-standard --directory
[ "$3" ] || exit 0
git update-index -q --refresh || true # it fails where a file is changed
git checkout-index --force --all`

// list runs the script listing. Its settle is the third argument.
func (t *Tree) list(ctx context.Context, settle string) (untracked, error) {
	var u untracked
	var out, stderr bytes.Buffer
	r, err := t.inside(ctx, sandbox.Command{
		Argv: []string{"sh", "-c", listing, "listing", t.excludes(), filepath.Join(t.own(), "ignored"), settle}, Dir: t.Dir, Env: t.git.Variables(),
		Stdout: &limited{&out, git.MaxOutput}, Stderr: &stderr,
	})
	switch {
	case errors.Is(err, errTooMuch):
		return u, t.refused("files", fmt.Sprintf("the names of the files that git does not track take more than %d bytes", git.MaxOutput))
	case err != nil:
		return u, unreadable(err)
	case !r.OK():
		return u, unreadable(fmt.Errorf("%s: %s", r, lines(stderr.String())))
	}
	names := strings.Split(strings.TrimSuffix(out.String(), "\x00"), "\x00")
	end := slices.Index(names, "")
	if end < 0 {
		return u, unreadable(errors.New("git in the sandbox lists no files"))
	}
	const fields = 4 // source, line, pattern, path
	for f := range slices.Chunk(names[:end], fields) {
		if len(f) == fields && f[0] == t.excludes() && slices.Contains(t.patterns, f[2]) && !slices.Contains(t.settled, f[fields-1]) {
			u.left = append(u.left, f[fields-1])
		}
	}
	u.others = names[end+1:]
	return u, nil
}

// Leftover lists the files and directories that the repository does not ignore and that are
// no part of a change. Coding agents and tools left them for themselves.
func (t *Tree) Leftover(ctx context.Context) ([]string, error) {
	if t.listed == nil {
		u, err := t.list(ctx, "")
		if err != nil {
			return nil, err
		}
		return t.leftOut(u), nil
	}
	return t.leftOut(*t.listed), nil
}

// leftOut lists the files and directories that are no part of a change, sorted.
func (t *Tree) leftOut(u untracked) []string {
	return slices.Sorted(slices.Values(slices.AppendSeq(slices.Clone(u.left), maps.Keys(t.omitted))))
}

// StartChange takes the tree as it is for the beginning of a change. Files that are not tracked
// are no part of it, and those that are tracked are as they were checked out.
func (t *Tree) StartChange(ctx context.Context) error {
	u, err := t.list(ctx, "settle")
	if err != nil {
		return err
	}
	t.settled = append(t.settled, t.leftOut(u)...)
	var patterns strings.Builder
	for _, name := range u.others {
		if name != "" && !strings.Contains(name, "\n") {
			patterns.WriteString("/" + escape(name) + "\n")
		}
	}
	return t.excludeToo(patterns.String())
}

// excludeToo adds lines of patterns to the file of excludes.
func (t *Tree) excludeToo(patterns string) error {
	if patterns == "" {
		return nil
	}
	file, err := os.OpenFile(t.excludes(), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return infra(err, "leave files out")
	}
	_, err = file.WriteString(patterns)
	if err = errors.Join(err, file.Close()); err != nil {
		return infra(err, "leave files out")
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
