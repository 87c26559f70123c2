package local

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// emptyTree is the tree with nothing in it, which a first commit is compared to.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// maxDiff is how many bytes of diff are shown.
const maxDiff = 8 << 20

var diffFlags = []string{"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames"}

// diffEntry is one changed file.
type diffEntry struct {
	sha, path, from      string // from: the path before a rename
	status               string
	additions, deletions int
	patch                string // empty for what is not text
}

var diffStatus = map[byte]string{'A': "added", 'D': "removed", 'M': "modified", 'R': "renamed", 'C': "copied", 'T': "changed"}

// files is what changed between two commits, in git's order.
func (f *Forge) files(ctx context.Context, repo, from, to string) ([]diffEntry, error) {
	g := f.git(repo)
	raw, err := g.Run(ctx, append(diffFlags, "--raw", "--no-abbrev", "--numstat", "-z", from, to, "--")...)
	if err != nil {
		return nil, err
	}
	files := parseRaw(strings.Split(raw, "\x00"))
	patch, err := g.Output(ctx, maxDiff, append(diffFlags, from, to, "--")...)
	if errors.Is(err, git.ErrTooLarge) {
		return files, nil // GitHub leaves out patches that are too large as well
	}
	if err != nil {
		return nil, err
	}
	// Both are in the same order, and no line of a hunk begins with "diff".
	parts := strings.Split("\n"+string(patch), "\ndiff --git ")[1:]
	for n := range files {
		if len(parts) == 0 {
			break
		}
		if _, hunks, ok := strings.Cut(parts[0], "\n@@ "); ok {
			files[n].patch = strings.TrimSuffix("@@ "+hunks, "\n")
		}
		if parts = parts[1:]; files[n].status == "changed" && len(parts) > 0 {
			parts = parts[1:] // a file that became a link is removed and added
		}
	}
	return files, nil
}

// parseRaw reads --raw --numstat -z: first a record a file with modes, SHAs
// and status, then a record a file with its lines; both then name the path, or
// two paths for a rename.
func parseRaw(fields []string) []diffEntry {
	var files []diffEntry
	next := func() (field string) {
		if len(fields) > 0 {
			field, fields = fields[0], fields[1:]
		}
		return field
	}
	for len(fields) > 0 && strings.HasPrefix(fields[0], ":") {
		meta := strings.Fields(next())
		d := diffEntry{sha: meta[3], status: diffStatus[meta[4][0]]}
		if meta[4][0] == 'D' {
			d.sha = meta[2]
		}
		if d.status == "renamed" || d.status == "copied" {
			d.from = next()
		}
		d.path = next()
		files = append(files, d)
	}
	for n := range files {
		lines := strings.SplitN(next(), "\t", 3)
		if len(lines) < 3 {
			break
		}
		files[n].additions, _ = strconv.Atoi(lines[0]) // "-" for what is not text
		files[n].deletions, _ = strconv.Atoi(lines[1])
		if lines[2] == "" {
			next()
			next()
		}
	}
	return files
}

func (v view) file(r repo, commit string, d diffEntry) object {
	path := escapePath(d.path)
	o := object{
		"sha": d.sha, "filename": d.path, "status": d.status,
		"additions": d.additions, "deletions": d.deletions, "changes": d.additions + d.deletions,
		"blob_url": v.repoURL(r) + "/blob/" + commit + "/" + path, "raw_url": v.repoURL(r) + "/raw/" + commit + "/" + path,
		"contents_url": v.repoAPI(r) + "/contents/" + path + "?ref=" + commit,
	}
	if d.patch != "" {
		o["patch"] = d.patch
	}
	if d.from != "" {
		o["previous_filename"] = d.from
	}
	return o
}

// diffMedia tells which text the client would rather have than JSON.
func diffMedia(r *http.Request) (string, bool) {
	accept := r.Header.Get("Accept")
	for _, media := range []string{"diff", "patch"} {
		if strings.Contains(accept, "application/vnd.github.") && strings.HasSuffix(accept, "."+media) {
			return media, true
		}
	}
	return "", false
}

// diff answers with the difference as a diff, or as mails with the commits.
func (c *call) diff(media, from, to string) (int, any, error) {
	out, err := c.f.diffText(c.Context(), c.name(), media, from, to)
	if errors.Is(err, git.ErrTooLarge) {
		return 0, nil, &failure{http.StatusNotAcceptable, "Sorry, the diff exceeded the maximum size",
			[]any{object{"resource": "PullRequest", "field": "diff", "code": "too_large"}}}
	}
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, text{kind: "application/vnd.github." + media + "; charset=utf-8", body: out}, nil
}

func (f *Forge) diffText(ctx context.Context, repo, media, from, to string) ([]byte, error) {
	args := append(diffFlags, from, to, "--")
	if media == "patch" {
		args = []string{"format-patch", "--stdout", "--no-color", from + ".." + to, "--"}
		if from == emptyTree {
			args = []string{"format-patch", "--stdout", "--no-color", "--root", to, "--"}
		}
	}
	return f.git(repo).Output(ctx, maxDiff, args...)
}
