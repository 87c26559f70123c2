package bare

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/git"
)

// EmptyTree is the SHA of the empty tree, which a first commit is compared to.
const EmptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// maxDiff is how many bytes a diff may have, maxPaths the paths of one.
const (
	maxDiff  = 8 << 20
	maxPaths = 64 << 20
)

var diffFlags = []string{"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames"}

// FileDiff is one changed file.
type FileDiff struct {
	SHA, Path            string
	From                 string // the path before a rename
	Status               string
	Additions, Deletions int
	Patch                string // "" if it is not text
}

var diffStatus = map[byte]string{'A': "added", 'D': "removed", 'M': "modified", 'R': "renamed", 'C': "copied", 'T': "changed"}

// Files returns the files that differ between two commits, in git's order.
func (r Repo) Files(ctx context.Context, from, to string) ([]FileDiff, error) {
	raw, err := r.read(ctx, git.MaxOutput, append(diffFlags, "--raw", "--no-abbrev", "--numstat", "-z", from, to, "--")...)
	if err != nil {
		return nil, err
	}
	files := parseRaw(strings.Split(raw, "\x00"))
	patch, err := r.read(ctx, maxDiff, append(diffFlags, from, to, "--")...)
	if errors.Is(err, git.ErrTooLarge) {
		return files, nil // GitHub leaves out patches that are too large as well
	}
	if err != nil {
		return nil, err
	}
	// Both are in the same order, and no line of a hunk begins with "diff".
	parts := strings.Split("\n"+patch, "\ndiff --git ")[1:]
	for n := range files {
		if len(parts) == 0 {
			break
		}
		if _, hunks, ok := strings.Cut(parts[0], "\n@@ "); ok {
			files[n].Patch = strings.TrimSuffix("@@ "+hunks, "\n")
		}
		if parts = parts[1:]; files[n].Status == "changed" && len(parts) > 0 {
			parts = parts[1:] // a file that became a link is removed and added
		}
	}
	return files, nil
}

// Paths returns the paths that differ between two commits. A file that was renamed has two.
// It fails with git.ErrTooLarge above 64 MiB.
func (r Repo) Paths(ctx context.Context, from, to string) ([]string, error) {
	out, err := r.read(ctx, maxPaths, "diff", "--name-only", "--no-renames", "-z", from, to, "--")
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), nil
}

// parseRaw parses the output of --raw --numstat -z. It has a record of each file with
// modes, SHAs and status, then a record of each file with its line counts. Both then
// name the path, or two paths for a rename.
func parseRaw(fields []string) []FileDiff {
	var files []FileDiff
	next := func() (field string) {
		if len(fields) > 0 {
			field, fields = fields[0], fields[1:]
		}
		return field
	}
	for len(fields) > 0 && strings.HasPrefix(fields[0], ":") {
		meta := strings.Fields(next())
		d := FileDiff{SHA: meta[3], Status: diffStatus[meta[4][0]]}
		if meta[4][0] == 'D' {
			d.SHA = meta[2]
		}
		if d.Status == "renamed" || d.Status == "copied" {
			d.From = next()
		}
		d.Path = next()
		files = append(files, d)
	}
	for n := range files {
		lines := strings.SplitN(next(), "\t", 3)
		if len(lines) < 3 {
			break
		}
		files[n].Additions, _ = strconv.Atoi(lines[0]) // "-" if it is not text
		files[n].Deletions, _ = strconv.Atoi(lines[1])
		if lines[2] == "" {
			next()
			next()
		}
	}
	return files
}

// Diff returns the difference between two commits as a unified diff, or, if media is
// patch, as mails with the commits. It fails with git.ErrTooLarge above 8 MiB.
func (r Repo) Diff(ctx context.Context, media, from, to string) ([]byte, error) {
	args := append(diffFlags, from, to, "--")
	if media == "patch" {
		args = []string{"format-patch", "--stdout", "--no-color", from + ".." + to, "--"}
		if from == EmptyTree {
			args = []string{"format-patch", "--stdout", "--no-color", "--root", to, "--"}
		}
	}
	return r.Output(ctx, maxDiff, args...)
}

var hunkPattern = lazyregexp.New(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// hunk is the header of a hunk: its first line and its number of lines, in the old
// file and in the new one.
type hunk struct{ oldLine, oldCount, newLine, newCount int }

func parseHunk(line string) (hunk, bool) {
	m := hunkPattern.FindStringSubmatch(line)
	if m == nil {
		return hunk{}, false
	}
	number := func(at int) int {
		if m[at] == "" {
			return 1
		}
		n, _ := strconv.Atoi(m[at])
		return n
	}
	return hunk{number(1), number(2), number(3), number(4)}, true
}

// HunkTo returns the part of the patch from the header of the hunk to the line of the new
// file. It is "" if the patch does not show the line.
func HunkTo(patch string, line int) string {
	var part []string
	at := 0
	for text := range strings.Lines(patch) {
		text = strings.TrimSuffix(text, "\n")
		if h, ok := parseHunk(text); ok {
			part, at = []string{text}, h.newLine-1
			continue
		}
		part = append(part, text)
		if strings.HasPrefix(text, "-") || strings.HasPrefix(text, `\`) {
			continue
		}
		if at++; at == line {
			return strings.Join(part, "\n")
		}
	}
	return ""
}

// MoveLine returns the number that a line of a file has in a later commit, 0 if it was
// changed or deleted.
func (r Repo) MoveLine(ctx context.Context, from, to, path string, line int) (int, error) {
	if from == to {
		return line, nil
	}
	args := []string{"diff", "--no-color", "--no-ext-diff", "--no-textconv", "-U0", from, to, "--", path}
	out, err := r.read(ctx, git.MaxOutput, args...)
	if err != nil {
		return 0, err
	}
	moved := line
	for text := range strings.Lines(out) {
		h, ok := parseHunk(text)
		switch {
		case !ok:
		case h.oldCount > 0 && line >= h.oldLine && line < h.oldLine+h.oldCount:
			return 0, nil
		case line > h.oldLine: // beyond it
			moved += h.newCount - h.oldCount
		}
	}
	return moved, nil
}
