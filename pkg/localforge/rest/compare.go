package rest

import (
	"errors"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/localforge/bare"
	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// compareCommits serves compare/base...head.
func compareCommits(c *call) (int, any, error) {
	ctx := c.Context()
	from, to, ok := strings.Cut(c.PathValue("range"), "...")
	if !ok {
		return 0, nil, host.ErrNotFound
	}
	base, err := c.Git().Resolve(ctx, from)
	if err != nil {
		return 0, nil, err
	}
	head, err := c.Git().Resolve(ctx, to)
	if err != nil {
		return 0, nil, err
	}
	about, err := c.Git().Compare(ctx, base, head)
	if err != nil {
		return 0, nil, err
	}
	if about.MergeBase == "" {
		return 0, nil, &failure{status: http.StatusNotFound, message: "No common ancestor between " + from + " and " + to + "."}
	}
	if media, ok := diffMedia(c.Request); ok {
		return c.diff(media, about.MergeBase, head)
	}
	commits, err := c.Git().Commits(ctx, "--reverse", about.MergeBase+".."+head)
	if err != nil {
		return 0, nil, err
	}
	ends, err := c.Git().Commits(ctx, "--no-walk=unsorted", base, about.MergeBase)
	if err != nil {
		return 0, nil, err
	}
	files, err := c.Git().Files(ctx, about.MergeBase, head)
	if err != nil {
		return 0, nil, err
	}
	v := c.view()
	url := v.RepoURL(c.Repo) + "/compare/" + from + "..." + to
	status := map[[2]bool]string{
		{false, false}: "identical", {true, false}: "ahead", {false, true}: "behind", {true, true}: "diverged",
	}[[2]bool{about.Ahead > 0, about.Behind > 0}]
	return http.StatusOK, object{
		"url": v.RepoAPI(c.Repo) + "/compare/" + from + "..." + to, "html_url": url, "permalink_url": url,
		"diff_url": url + ".diff", "patch_url": url + ".patch", "status": status,
		"ahead_by": about.Ahead, "behind_by": about.Behind, "total_commits": about.Ahead,
		"base_commit": v.commit(c.Repo, ends[0]), "merge_base_commit": v.commit(c.Repo, ends[len(ends)-1]),
		"commits": each(page(c, commits), func(m bare.Commit) object { return v.commit(c.Repo, m) }),
		"files":   each(files, func(d bare.FileDiff) object { return v.file(c.Repo, head, d) }),
	}, nil
}

func (v view) file(r store.Repo, commit string, d bare.FileDiff) object {
	path := escapePath(d.Path)
	o := object{
		"sha": d.SHA, "filename": d.Path, "status": d.Status,
		"additions": d.Additions, "deletions": d.Deletions, "changes": d.Additions + d.Deletions,
		"blob_url": v.RepoURL(r) + "/blob/" + commit + "/" + path, "raw_url": v.RepoURL(r) + "/raw/" + commit + "/" + path,
		"contents_url": v.RepoAPI(r) + "/contents/" + path + "?ref=" + commit,
	}
	if d.Patch != "" {
		o["patch"] = d.Patch
	}
	if d.From != "" {
		o["previous_filename"] = d.From
	}
	return o
}

// diffMedia returns the text that the client prefers to JSON: diff or patch.
func diffMedia(r *http.Request) (string, bool) {
	accept := r.Header.Get("Accept")
	for _, media := range []string{"diff", "patch"} {
		if strings.Contains(accept, "application/vnd.github.") && strings.HasSuffix(accept, "."+media) {
			return media, true
		}
	}
	return "", false
}

// diff answers with the difference as a diff, or, if media is patch, as mails.
func (c *call) diff(media, from, to string) (int, any, error) {
	out, err := c.Git().Diff(c.Context(), media, from, to)
	if errors.Is(err, git.ErrTooLarge) {
		return 0, nil, &failure{status: http.StatusNotAcceptable, message: "Sorry, the diff exceeded the maximum size",
			errors: []any{object{"resource": "PullRequest", "field": "diff", "code": "too_large"}}}
	}
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, text{kind: "application/vnd.github." + media + "; charset=utf-8", body: out}, nil
}
