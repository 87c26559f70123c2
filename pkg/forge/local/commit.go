package local

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// commit is a commit as git tells it.
type commit struct {
	sha, tree         string
	parents           []string
	author, committer signature
	message           string
}

type signature struct{ name, email, date string }

// commitFormat separates what a message cannot hold: NUL ends a commit.
const commitFormat = "--format=%H%x1f%T%x1f%P%x1f%an%x1f%ae%x1f%aI%x1f%cn%x1f%ce%x1f%cI%x1f%B"

// commits is what git log shows for the revisions.
func (f *Forge) commits(ctx context.Context, repo string, revisions ...string) ([]commit, error) {
	args := append([]string{"log", "-z", commitFormat}, revisions...)
	out, err := f.git(repo).Run(ctx, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	var commits []commit
	for record := range strings.SplitSeq(out, "\x00") {
		part := strings.SplitN(record, "\x1f", 10)
		if len(part) < 10 {
			continue
		}
		commits = append(commits, commit{
			sha: part[0], tree: part[1], parents: strings.Fields(part[2]), message: strings.TrimSpace(part[9]),
			author: signature{part[3], part[4], part[5]}, committer: signature{part[6], part[7], part[8]},
		})
	}
	return commits, nil
}

func (v view) commit(r repo, m commit) object {
	api, gitAPI := v.repoAPI(r)+"/commits/", v.repoAPI(r)+"/git/"
	parents := each(m.parents, func(sha string) object {
		return object{"sha": sha, "url": api + sha, "html_url": v.repoURL(r) + "/commit/" + sha}
	})
	return object{
		"sha": m.sha, "node_id": "C_" + m.sha, "url": api + m.sha, "comments_url": api + m.sha + "/comments",
		"html_url": v.repoURL(r) + "/commit/" + m.sha, "parents": parents,
		"author": v.byEmail(m.author.email), "committer": v.byEmail(m.committer.email),
		"commit": object{
			"url": gitAPI + "commits/" + m.sha, "message": m.message, "comment_count": 0,
			"author": m.author.view(), "committer": m.committer.view(),
			"tree":         object{"sha": m.tree, "url": gitAPI + "trees/" + m.tree},
			"verification": object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil},
		},
	}
}

func (s signature) view() object { return object{"name": s.name, "email": s.email, "date": s.date} }

// email is the address an account commits with when it merges here.
func (a account) email() string { return fmt.Sprintf("%d+%s@users.noreply.localhost", a.ID, a.Login) }

func (v view) byEmail(email string) any {
	for _, a := range v.state.accounts {
		if a.email() == email {
			return v.account(a)
		}
	}
	return nil
}

func listCommits(c *call) (int, any, error) {
	q := c.URL.Query()
	name := q.Get("sha")
	if name == "" {
		name = c.repo.Branch
	}
	sha, err := c.f.commit(c.Context(), c.name(), name)
	if err != nil {
		return 0, nil, err
	}
	all, err := c.f.git(c.name()).Run(c.Context(), "rev-list", sha, "--")
	if err != nil {
		return 0, nil, err
	}
	v, shas := c.view(), page(c, strings.Fields(all))
	if len(shas) == 0 {
		return http.StatusOK, []object{}, nil
	}
	commits, err := c.f.commits(c.Context(), c.name(), append([]string{"--no-walk=unsorted"}, shas...)...)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, each(commits, func(m commit) object { return v.commit(c.repo, m) }), nil
}

// getCommitPart answers commits/{ref} and what is below it: a ref may hold
// slashes, so its end is found from the right.
func getCommitPart(c *call) (int, any, error) {
	ref := c.PathValue("ref")
	for suffix, h := range map[string]func(*call, string) (int, any, error){
		"/status": getCombinedStatus, "/statuses": listStatuses, "/check-runs": listChecks,
	} {
		if name, ok := strings.CutSuffix(ref, suffix); ok {
			sha, err := c.f.commit(c.Context(), c.name(), name)
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
	sha, err := c.f.commit(ctx, c.name(), ref)
	if err != nil {
		return 0, nil, err
	}
	commits, err := c.f.commits(ctx, c.name(), "--no-walk=unsorted", sha)
	if err != nil {
		return 0, nil, err
	}
	parent := emptyTree
	if len(commits[0].parents) > 0 {
		parent = commits[0].parents[0]
	}
	if media, ok := diffMedia(c.Request); ok {
		return c.diff(media, parent, sha)
	}
	files, err := c.f.files(ctx, c.name(), parent, sha)
	if err != nil {
		return 0, nil, err
	}
	v, additions, deletions := c.view(), 0, 0
	for _, d := range files {
		additions, deletions = additions+d.additions, deletions+d.deletions
	}
	o := v.commit(c.repo, commits[0])
	o["files"] = each(files, func(d diffEntry) object { return v.file(c.repo, sha, d) })
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
