package local

import (
	"context"
	"regexp"
	"strconv"
	"strings"
)

var hunkPattern = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// hunk is the head of a hunk: so many lines from here, in the old file and in
// the new one.
type hunk struct{ old, olds, now, nows int }

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

// around is the part of the patch from the head of its hunk to the line of the
// new file; empty when the patch does not show the line.
func around(patch string, line int) string {
	var part []string
	at := 0
	for text := range strings.Lines(patch) {
		text = strings.TrimSuffix(text, "\n")
		if h, ok := parseHunk(text); ok {
			part, at = []string{text}, h.now-1
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

// moveLine is where a line of a file is in a later commit; 0 when it was
// changed or is gone.
func (f *Forge) moveLine(ctx context.Context, repo, from, to, path string, line int) (int, error) {
	if from == to {
		return line, nil
	}
	g := f.git(repo).WithEnv("GIT_LITERAL_PATHSPECS=1")
	out, err := g.Run(ctx, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "-U0", from, to, "--", path)
	if err != nil {
		return 0, err
	}
	moved := line
	for text := range strings.Lines(out) {
		h, ok := parseHunk(text)
		switch {
		case !ok:
		case h.olds > 0 && line >= h.old && line < h.old+h.olds:
			return 0, nil
		case line > h.old: // beyond it
			moved += h.nows - h.olds
		}
	}
	return moved, nil
}
