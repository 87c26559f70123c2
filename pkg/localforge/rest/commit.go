package rest

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge/bare"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

func (v view) commit(r store.Repo, m bare.Commit) object {
	api, gitAPI := v.RepoAPI(r)+"/commits/", v.RepoAPI(r)+"/git/"
	parents := each(m.Parents, func(sha string) object {
		return object{"sha": sha, "url": api + sha, "html_url": v.RepoURL(r) + "/commit/" + sha}
	})
	return object{
		"sha": m.SHA, "node_id": "C_" + m.SHA, "url": api + m.SHA, "comments_url": api + m.SHA + "/comments",
		"html_url": v.RepoURL(r) + "/commit/" + m.SHA, "parents": parents,
		"author": v.byEmail(m.Author.Email), "committer": v.byEmail(m.Committer.Email),
		"commit": object{
			"url": gitAPI + "commits/" + m.SHA, "message": m.Message, "comment_count": 0,
			"author": signatureObject(m.Author), "committer": signatureObject(m.Committer),
			"tree":         object{"sha": m.Tree, "url": gitAPI + "trees/" + m.Tree},
			"verification": object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil},
		},
	}
}

func signatureObject(s bare.Signature) object {
	return object{"name": s.Name, "email": s.Email, "date": s.Date}
}

func (v view) byEmail(email string) any {
	for _, a := range v.state.Accounts {
		if a.Email() == email {
			return v.account(a)
		}
	}
	return nil
}

func listCommits(c *call) (int, any, error) {
	q := c.URL.Query()
	name := q.Get("sha")
	if name == "" {
		name = c.Repo.Branch
	}
	sha, err := c.Git().Resolve(c.Context(), name)
	if err != nil {
		return 0, nil, err
	}
	all, err := c.Git().Run(c.Context(), "rev-list", sha, "--")
	if err != nil {
		return 0, nil, err
	}
	v, shas := c.view(), page(c, strings.Fields(all))
	if len(shas) == 0 {
		return http.StatusOK, []object{}, nil
	}
	commits, err := c.Git().Commits(c.Context(), append([]string{"--no-walk=unsorted"}, shas...)...)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, each(commits, func(m bare.Commit) object { return v.commit(c.Repo, m) }), nil
}

// getCommitPart serves commits/{ref} and the paths below it. A ref may contain slashes,
// so the suffix ends it.
func getCommitPart(c *call) (int, any, error) {
	ref := c.PathValue("ref")
	for suffix, h := range map[string]func(*call, string) (int, any, error){
		"/status": getCombinedStatus, "/check-runs": listChecks,
	} {
		if name, ok := strings.CutSuffix(ref, suffix); ok {
			sha, err := c.Git().Resolve(c.Context(), name)
			if err != nil {
				return 0, nil, err
			}
			return h(c, sha)
		}
	}
	return getCommit(c, ref)
}

func getCommit(c *call, ref string) (int, any, error) {
	ctx := c.Context()
	sha, err := c.Git().Resolve(ctx, ref)
	if err != nil {
		return 0, nil, err
	}
	commits, err := c.Git().Commits(ctx, "--no-walk=unsorted", sha)
	if err != nil {
		return 0, nil, err
	}
	parent := bare.EmptyTree
	if len(commits[0].Parents) > 0 {
		parent = commits[0].Parents[0]
	}
	if media, ok := diffMedia(c.Request); ok {
		return c.diff(media, parent, sha)
	}
	files, err := c.Git().Files(ctx, parent, sha)
	if err != nil {
		return 0, nil, err
	}
	v, additions, deletions := c.view(), 0, 0
	for _, d := range files {
		additions, deletions = additions+d.Additions, deletions+d.Deletions
	}
	o := v.commit(c.Repo, commits[0])
	o["files"] = each(files, func(d bare.FileDiff) object { return v.file(c.Repo, sha, d) })
	o["stats"] = object{"additions": additions, "deletions": deletions, "total": additions + deletions}
	return http.StatusOK, o, nil
}

// escapePath escapes a path's segments and keeps its slashes.
func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}
