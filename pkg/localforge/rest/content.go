package rest

import (
	"encoding/base64"
	"errors"
	"net/http"
	"path"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/localforge/bare"
	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

func getContents(c *call) (int, any, error) {
	ref := c.URL.Query().Get("ref")
	if ref == "" {
		ref = c.Repo.Branch
	}
	commit, err := c.Git().Resolve(c.Context(), ref)
	if err != nil {
		return 0, nil, &failure{status: http.StatusNotFound, message: "No commit found for the ref " + ref}
	}
	name := strings.Trim(path.Clean("/"+c.PathValue("path")), "/")
	if name == "" {
		return c.directory(commit, ref, "")
	}
	entries, err := c.Git().Tree(c.Context(), commit, name)
	if err != nil {
		return 0, nil, err
	}
	switch {
	case len(entries) != 1:
		return 0, nil, host.ErrNotFound
	case entries[0].Kind == "tree":
		return c.directory(commit, ref, name+"/")
	}
	return c.file(entries[0], ref)
}

func (c *call) directory(commit, ref, name string) (int, any, error) {
	entries, err := c.Git().Tree(c.Context(), commit, name)
	if err != nil {
		return 0, nil, err
	}
	v := c.view()
	return http.StatusOK, each(entries, func(e bare.TreeEntry) object { return v.content(c.Repo, e, ref) }), nil
}

func (v view) content(r store.Repo, e bare.TreeEntry, ref string) object {
	kind := map[string]string{"tree": "dir", "commit": "submodule", "blob": "file"}[e.Kind]
	if e.Mode == "120000" {
		kind = "symlink"
	}
	at := escapePath(e.Path)
	self := v.RepoAPI(r) + "/contents/" + at + "?ref=" + ref
	html := v.RepoURL(r) + "/blob/" + escapePath(ref) + "/" + at
	blob := v.RepoAPI(r) + "/git/blobs/" + e.SHA
	return object{
		"type": kind, "name": path.Base(e.Path), "path": e.Path, "sha": e.SHA, "size": e.Size, "url": self,
		"html_url": html, "git_url": blob, "download_url": nil,
		"_links": object{"self": self, "git": blob, "html": html},
	}
}

func (c *call) file(e bare.TreeEntry, ref string) (int, any, error) {
	data, err := c.Git().Blob(c.Context(), e.SHA)
	if errors.Is(err, git.ErrTooLarge) {
		return 0, nil, &failure{status: http.StatusForbidden, message: "This API returns blobs up to 1 MB in size.",
			errors: []any{object{"resource": "Blob", "field": "data", "code": "too_large"}}}
	}
	if err != nil {
		return 0, nil, err
	}
	if accept := c.Header.Get("Accept"); strings.HasPrefix(accept, "application/vnd.github.") && strings.Contains(accept, "raw") {
		return http.StatusOK, text{kind: "application/octet-stream", body: data}, nil
	}
	o := c.view().content(c.Repo, e, ref)
	o["type"], o["encoding"], o["content"] = "file", "base64", base64.StdEncoding.EncodeToString(data)
	return http.StatusOK, o, nil
}
