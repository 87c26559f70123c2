package local

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// closingPattern is how a description says which issues it closes.
var closingPattern = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)\b`)

func (v view) pullAPI(r repo, i issue) string {
	return fmt.Sprintf("%s/pulls/%d", v.repoAPI(r), i.Number)
}

// pull is a pull request as lists show it.
func (v view) pull(r repo, i issue) object {
	p, api, web := i.Pull, v.pullAPI(r, i), v.issueURL(r, i)
	issueAPI := fmt.Sprintf("%s/issues/%d", v.repoAPI(r), i.Number)
	statuses := v.repoAPI(r) + "/statuses/" + p.HeadSHA
	href := func(url string) object { return object{"href": url} }
	return object{
		"id": i.ID, "node_id": nodeID("PullRequest", i.ID), "number": i.Number, "state": i.State, "locked": i.Locked,
		"active_lock_reason": nil, "title": i.Title, "body": optional(i.Body), "draft": p.Draft,
		"user": v.user(i.Author), "author_association": v.association(r, i.Author), "labels": v.labels(r, i.Labels),
		"milestone": nil, "assignee": nil, "assignees": []object{}, "requested_reviewers": v.asked(i), "requested_teams": []object{},
		"auto_merge": nil, "created_at": i.Created, "updated_at": i.Updated, "closed_at": moment(i.Closed),
		"merged_at": moment(p.Merged), "merge_commit_sha": optional(p.MergeSHA),
		"head": v.branchOf(r, p.Head, p.HeadSHA), "base": v.branchOf(r, p.Base, p.BaseSHA),
		"url": api, "html_url": web, "diff_url": web + ".diff", "patch_url": web + ".patch", "issue_url": issueAPI,
		"commits_url": api + "/commits", "review_comments_url": api + "/comments",
		"review_comment_url": v.repoAPI(r) + "/pulls/comments{/number}", "comments_url": issueAPI + "/comments",
		"statuses_url": statuses,
		"_links": object{
			"self": href(api), "html": href(web), "issue": href(issueAPI), "comments": href(issueAPI + "/comments"),
			"review_comments": href(api + "/comments"), "review_comment": href(v.repoAPI(r) + "/pulls/comments{/number}"),
			"commits": href(api + "/commits"), "statuses": href(statuses),
		},
	}
}

func (v view) branchOf(r repo, branch, sha string) object {
	owner, _ := v.state.account(r.Owner)
	return object{"label": r.Owner + ":" + branch, "ref": branch, "sha": sha, "user": v.account(owner), "repo": v.repo(r)}
}

// fullPull is a pull request as its own answer shows it: whether it can be
// merged is only there.
func (c *call) fullPull(i issue) (object, error) {
	v, p := c.view(), i.Pull
	about, err := c.f.comparison(c.Context(), c.name(), p.BaseSHA, p.HeadSHA)
	if err != nil {
		return nil, err
	}
	o := v.pull(c.repo, i)
	o["merged"], o["merged_by"] = p.Merged != nil, v.user(p.MergedBy)
	o["mergeable"], o["rebaseable"], o["mergeable_state"] = any(nil), any(nil), "unknown"
	if i.open() && !c.f.asked.computing(c.name(), p, c.f.config.Computing) {
		o["mergeable"], o["rebaseable"] = !about.conflicts, !about.conflicts
		o["mergeable_state"] = c.mergeableState(i, about)
	}
	o["comments"], o["review_comments"] = len(c.repo.commentsOn(i.Number)), len(c.repo.linesOf(i.Number))
	o["maintainer_can_modify"] = false
	o["commits"], o["changed_files"] = about.ahead, about.files
	o["additions"], o["deletions"] = about.additions, about.deletions
	return o, nil
}

func (c *call) mergeableState(i issue, about comparison) string {
	p := i.Pull
	d, _ := c.repo.demands(p.Base)
	switch {
	case about.conflicts:
		return "dirty"
	case p.Draft:
		return "draft"
	case len(c.f.unmet(c.repo, i)) > 0:
		return "blocked"
	case d.Strict && about.behind > 0:
		return "behind"
	case !slices.Contains([]string{"", "success"}, c.repo.verdict(p.HeadSHA)):
		return "unstable"
	}
	return "clean"
}

// pull is the pull request of the path, as the branches have it now.
func (c *call) pull() (issue, error) {
	r, i, err := c.f.pulled(c.Context(), c.name(), c.id("number"))
	if err != nil {
		return i, err
	}
	c.state, c.repo = c.f.state.Load(), r
	return i, nil
}

func getPull(c *call) (int, any, error) {
	i, err := c.pull()
	if err != nil {
		return 0, nil, err
	}
	if media, ok := diffMedia(c.Request); ok {
		base, err := c.f.mergeBase(c.Context(), c.name(), i.Pull)
		if err != nil {
			return 0, nil, err
		}
		return c.diff(media, base, i.Pull.HeadSHA)
	}
	o, err := c.fullPull(i)
	return http.StatusOK, o, err
}

func (f *Forge) mergeBase(ctx context.Context, repo string, p *pull) (string, error) {
	about, err := f.comparison(ctx, repo, p.BaseSHA, p.HeadSHA)
	return cmp.Or(about.mergeBase, emptyTree), err
}

func listPulls(c *call) (int, any, error) {
	if err := c.f.follow(c.Context(), c.name(), 0); err != nil {
		return 0, nil, err
	}
	c.refresh()
	q := c.URL.Query()
	owner, head, qualified := strings.Cut(q.Get("head"), ":")
	rows := c.repo.issues.where(func(i issue) bool {
		return i.Pull != nil && inState(i.State, q.Get("state")) &&
			(q.Get("base") == "" || i.Pull.Base == q.Get("base")) &&
			(!qualified || strings.EqualFold(owner, c.repo.Owner) && i.Pull.Head == head)
	})
	c.sortIssues(rows)
	rows = shown(c, rows, func(i issue) (id, by int64) { return i.ID, i.Author })
	v := c.view()
	return http.StatusOK, each(page(c, rows), func(i issue) object { return v.pull(c.repo, i) }), nil
}

func listPullCommits(c *call) (int, any, error) {
	i, err := c.pull()
	if err != nil {
		return 0, nil, err
	}
	commits, err := c.f.commits(c.Context(), c.name(), "--reverse", i.Pull.HeadSHA, "^"+i.Pull.BaseSHA)
	if err != nil {
		return 0, nil, err
	}
	v := c.view()
	return http.StatusOK, each(page(c, commits), func(m commit) object { return v.commit(c.repo, m) }), nil
}

func listPullFiles(c *call) (int, any, error) {
	i, err := c.pull()
	if err != nil {
		return 0, nil, err
	}
	base, err := c.f.mergeBase(c.Context(), c.name(), i.Pull)
	if err != nil {
		return 0, nil, err
	}
	files, err := c.f.files(c.Context(), c.name(), base, i.Pull.HeadSHA)
	if err != nil {
		return 0, nil, err
	}
	v := c.view()
	return http.StatusOK, each(page(c, files), func(d diffEntry) object { return v.file(c.repo, i.Pull.HeadSHA, d) }), nil
}

func getMerged(c *call) (int, any, error) {
	i, err := c.pull()
	if err != nil {
		return 0, nil, err
	}
	if i.Pull.Merged == nil {
		return 0, nil, errNotFound
	}
	return http.StatusNoContent, nil, nil
}
