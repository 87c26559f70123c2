package local

import (
	"encoding/base64"
	"errors"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// maxContent is how many bytes of a file are shown.
const maxContent = 1 << 20

// treeEntry is a line of git ls-tree.
type treeEntry struct {
	mode, kind, sha, path string
	size                  int
}

func getContents(c *call) (int, any, error) {
	ref := c.URL.Query().Get("ref")
	if ref == "" {
		ref = c.repo.Branch
	}
	commit, err := c.f.commit(c.Context(), c.name(), ref)
	if err != nil {
		return 0, nil, &failure{status: http.StatusNotFound, message: "No commit found for the ref " + ref}
	}
	name := strings.Trim(path.Clean("/"+c.PathValue("path")), "/")
	if name == "" {
		return c.directory(commit, ref, "")
	}
	entries, err := c.list(commit, name)
	if err != nil {
		return 0, nil, err
	}
	switch {
	case len(entries) != 1:
		return 0, nil, errNotFound
	case entries[0].kind == "tree":
		return c.directory(commit, ref, name+"/")
	}
	return c.file(entries[0], ref)
}

// list is git ls-tree for one path: itself, or what is in it if it ends in a slash.
func (c *call) list(commit, name string) ([]treeEntry, error) {
	args := []string{"ls-tree", "-l", "-z", "--full-tree", commit}
	if name != "" {
		args = append(args, "--", name)
	}
	out, err := c.f.git(c.name()).WithEnv("GIT_LITERAL_PATHSPECS=1").Run(c.Context(), args...)
	if err != nil {
		return nil, err
	}
	var entries []treeEntry
	for record := range strings.SplitSeq(out, "\x00") {
		meta, name, ok := strings.Cut(record, "\t")
		part := strings.Fields(meta)
		if !ok || len(part) < 4 {
			continue
		}
		size, _ := strconv.Atoi(part[3]) // "-" for what is not a file
		entries = append(entries, treeEntry{mode: part[0], kind: part[1], sha: part[2], size: size, path: name})
	}
	return entries, nil
}

func (c *call) directory(commit, ref, name string) (int, any, error) {
	entries, err := c.list(commit, name)
	if err != nil {
		return 0, nil, err
	}
	v := c.view()
	return http.StatusOK, each(entries, func(e treeEntry) object { return v.content(c.repo, e, ref) }), nil
}

func (v view) content(r repo, e treeEntry, ref string) object {
	kind := map[string]string{"tree": "dir", "commit": "submodule", "blob": "file"}[e.kind]
	if e.mode == "120000" {
		kind = "symlink"
	}
	at := escapePath(e.path)
	self := v.repoAPI(r) + "/contents/" + at + "?ref=" + ref
	html := v.repoURL(r) + "/blob/" + escapePath(ref) + "/" + at
	blob := v.repoAPI(r) + "/git/blobs/" + e.sha
	return object{
		"type": kind, "name": path.Base(e.path), "path": e.path, "sha": e.sha, "size": e.size, "url": self,
		"html_url": html, "git_url": blob, "download_url": nil,
		"_links": object{"self": self, "git": blob, "html": html},
	}
}

func (c *call) file(e treeEntry, ref string) (int, any, error) {
	data, err := c.f.git(c.name()).Output(c.Context(), maxContent, "cat-file", "blob", e.sha)
	if errors.Is(err, git.ErrTooLarge) {
		return 0, nil, &failure{http.StatusForbidden, "This API returns blobs up to 1 MB in size.",
			[]any{object{"resource": "Blob", "field": "data", "code": "too_large"}}}
	}
	if err != nil {
		return 0, nil, err
	}
	if accept := c.Header.Get("Accept"); strings.HasPrefix(accept, "application/vnd.github.") && strings.Contains(accept, "raw") {
		return http.StatusOK, text{kind: "application/octet-stream", body: data}, nil
	}
	o := c.view().content(c.repo, e, ref)
	o["type"], o["encoding"], o["content"] = "file", "base64", base64.StdEncoding.EncodeToString(data)
	return http.StatusOK, o, nil
}
