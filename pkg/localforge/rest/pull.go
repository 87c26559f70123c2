package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/localforge/bare"
	"github.com/signalbox/signalbox/pkg/localforge/rules"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// pull returns a pull request as lists have it.
func (v view) pull(r store.Repo, i store.Issue) object {
	p, api, web := i.Pull, v.PullAPI(r, i), v.IssueURL(r, i)
	issueAPI := fmt.Sprintf("%s/issues/%d", v.RepoAPI(r), i.Number)
	statuses := v.RepoAPI(r) + "/statuses/" + p.HeadSHA
	href := func(url string) object { return object{"href": url} }
	return object{
		"id": i.ID, "node_id": nodeID("PullRequest", i.ID), "number": i.Number, "state": i.State, "locked": i.Locked,
		"active_lock_reason": nil, "title": i.Title, "body": optional(i.Body), "draft": p.Draft,
		"user": v.user(i.Author), "author_association": v.association(r, i.Author), "labels": v.labels(r, i.Labels),
		"milestone": nil, "assignee": nil, "assignees": []object{}, "requested_reviewers": v.reviewers(i), "requested_teams": []object{},
		"auto_merge": nil, "created_at": i.Created, "updated_at": i.Updated, "closed_at": moment(i.Closed),
		"merged_at": moment(p.Merged), "merge_commit_sha": optional(p.MergeSHA),
		"head": v.branchOf(r, p.Head, p.HeadSHA), "base": v.branchOf(r, p.Base, p.BaseSHA),
		"url": api, "html_url": web, "diff_url": web + ".diff", "patch_url": web + ".patch", "issue_url": issueAPI,
		"commits_url": api + "/commits", "review_comments_url": api + "/comments",
		"review_comment_url": v.RepoAPI(r) + "/pulls/comments{/number}", "comments_url": issueAPI + "/comments",
		"statuses_url": statuses,
		"_links": object{
			"self": href(api), "html": href(web), "issue": href(issueAPI), "comments": href(issueAPI + "/comments"),
			"review_comments": href(api + "/comments"), "review_comment": href(v.RepoAPI(r) + "/pulls/comments{/number}"),
			"commits": href(api + "/commits"), "statuses": href(statuses),
		},
	}
}

func (v view) branchOf(r store.Repo, branch, sha string) object {
	owner, _ := v.state.Account(r.Owner)
	return object{"label": r.Owner + ":" + branch, "ref": branch, "sha": sha, "user": v.account(owner), "repo": v.repo(r)}
}

// fullPull returns a pull request as the answer about it alone has it. Only this one says
// whether it can be merged.
func (c *call) fullPull(i store.Issue) (object, error) {
	about, err := c.Git().Compare(c.Context(), i.Pull.BaseSHA, i.Pull.HeadSHA)
	if err != nil {
		return nil, err
	}
	o := c.countedPull(i, about)
	if i.Open() && !c.computing(i.Pull) {
		o["mergeable"], o["rebaseable"] = !about.Conflicts, !about.Conflicts
		if o["mergeable_state"], err = c.mergeableState(i, about); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// countedPull returns a pull request with its counts, and without its mergeability.
func (c *call) countedPull(i store.Issue, about bare.Comparison) object {
	v, p := c.view(), i.Pull
	o := v.pull(c.Repo, i)
	o["merged"], o["merged_by"] = p.Merged != nil, v.user(p.MergedBy)
	o["mergeable"], o["rebaseable"], o["mergeable_state"] = any(nil), any(nil), "unknown"
	o["comments"], o["review_comments"] = len(c.Repo.CommentsOn(i.Number)), len(c.Repo.LinesOf(i.Number))
	o["maintainer_can_modify"] = false
	o["commits"], o["changed_files"] = about.Ahead, about.Files
	o["additions"], o["deletions"] = about.Additions, about.Deletions
	return o
}

func (c *call) mergeableState(i store.Issue, about bare.Comparison) (string, error) {
	p := i.Pull
	d, _ := rules.Of(c.Repo, p.Base)
	judge, err := c.Forge.Judge(c.Context(), c.Repo, i)
	switch {
	case err != nil:
		return "", err
	case about.Conflicts:
		return "dirty", nil
	case p.Draft:
		return "draft", nil
	case len(judge.UnmetBeforeQueue()) > 0:
		return "blocked", nil
	case d.Strict && about.Behind > 0:
		return "behind", nil
	case !slices.Contains([]string{"", "success"}, rules.Verdict(c.Repo, p.HeadSHA)):
		return "unstable", nil
	}
	return "clean", nil
}

func getPull(c *call) (int, any, error) {
	i, err := c.PullRequest()
	if err != nil {
		return 0, nil, err
	}
	if media, ok := diffMedia(c.Request); ok {
		base, err := c.Git().MergeBase(c.Context(), i.Pull.BaseSHA, i.Pull.HeadSHA)
		if err != nil {
			return 0, nil, err
		}
		return c.diff(media, base, i.Pull.HeadSHA)
	}
	o, err := c.fullPull(i)
	return http.StatusOK, o, err
}

func listPulls(c *call) (int, any, error) {
	if err := c.Forge.Follow(c.Context(), c.Name(), 0); err != nil {
		return 0, nil, err
	}
	c.Refresh()
	q := c.URL.Query()
	owner, head, qualified := strings.Cut(q.Get("head"), ":")
	rows := c.Repo.Issues.Where(func(i store.Issue) bool {
		return i.Pull != nil && inState(i.State, q.Get("state")) &&
			(q.Get("base") == "" || i.Pull.Base == q.Get("base")) &&
			(!qualified || strings.EqualFold(owner, c.Repo.Owner) && i.Pull.Head == head)
	})
	c.sortIssues(rows)
	rows = shown(c, rows, func(i store.Issue) (id, by int64) { return i.ID, i.Author })
	v := c.view()
	return http.StatusOK, each(page(c, rows), func(i store.Issue) object { return v.pull(c.Repo, i) }), nil
}

func listPullCommits(c *call) (int, any, error) {
	i, err := c.PullRequest()
	if err != nil {
		return 0, nil, err
	}
	commits, err := c.Git().Commits(c.Context(), "--reverse", i.Pull.HeadSHA, "^"+i.Pull.BaseSHA)
	if err != nil {
		return 0, nil, err
	}
	v := c.view()
	return http.StatusOK, each(page(c, commits), func(m bare.Commit) object { return v.commit(c.Repo, m) }), nil
}

func listPullFiles(c *call) (int, any, error) {
	i, err := c.PullRequest()
	if err != nil {
		return 0, nil, err
	}
	base, err := c.Git().MergeBase(c.Context(), i.Pull.BaseSHA, i.Pull.HeadSHA)
	if err != nil {
		return 0, nil, err
	}
	files, err := c.Git().Files(c.Context(), base, i.Pull.HeadSHA)
	if err != nil {
		return 0, nil, err
	}
	v := c.view()
	return http.StatusOK, each(page(c, files), func(d bare.FileDiff) object { return v.file(c.Repo, i.Pull.HeadSHA, d) }), nil
}

func createPull(c *call) (int, any, error) {
	var in struct {
		Title, Body, Head, Base string
		Draft                   bool
	}
	if err := c.decodeDone(&in, undone{resource: "PullRequest", keys: undoneOfNewPull}); err != nil {
		return 0, nil, err
	}
	switch {
	case strings.TrimSpace(in.Title) == "":
		return 0, nil, invalid("PullRequest", "title", "missing_field")
	case in.Head == "":
		return 0, nil, invalid("PullRequest", "head", "missing_field")
	case in.Base == "":
		return 0, nil, invalid("PullRequest", "base", "missing_field")
	case in.Draft && c.server.config.NoDrafts:
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "Draft pull requests are not supported in this repository."}
	}
	if err := cmp.Or(limit("PullRequest", "title", in.Title, maxTitle), limit("PullRequest", "body", in.Body, maxText)); err != nil {
		return 0, nil, err
	}
	if owner, branch, ok := strings.Cut(in.Head, ":"); ok {
		if !strings.EqualFold(owner, c.Repo.Owner) {
			return 0, nil, invalid("PullRequest", "head", "invalid") // there are no forks
		}
		in.Head = branch
	}
	p := &store.Pull{Head: in.Head, Base: in.Base, Draft: in.Draft}
	refs := c.Forge.LockRefs(c.Repo)
	defer refs.Unlock()
	if err := c.locate(p); err != nil {
		return 0, nil, err
	}
	owners, err := c.Forge.CodeOwners(c.Context(), c.Repo, p)
	if err != nil {
		return 0, nil, err
	}
	var made store.Issue
	err = c.Change(func(t *store.Tx, r store.Repo) error {
		for _, i := range r.Issues {
			if i.Open() && i.Pull.Head == p.Head && i.Pull.Base == p.Base {
				return refused("PullRequest", fmt.Sprintf("A pull request already exists for %s:%s.", r.Owner, p.Head))
			}
		}
		made = c.newIssue(t, r, in.Title, in.Body)
		made.Pull = p
		made = c.Forge.AskOwners(r, made, owners)
		t.Put(store.Entry{Repo: c.Name(), Issue: &made})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	if err := refs.Follow(c.Context(), c.User.ID); err != nil {
		return 0, nil, err
	}
	o, err := c.fullPull(made)
	if err != nil {
		return 0, nil, err
	}
	c.header.Set("Location", fmt.Sprint(o["url"]))
	return http.StatusCreated, o, nil
}

// locate sets the commits of the pull request's branches. It refuses branches with
// nothing to merge.
func (c *call) locate(p *store.Pull) error {
	refs, err := c.Git().Refs(c.Context())
	if err != nil {
		return err
	}
	p.HeadSHA, p.BaseSHA = refs[p.HeadRef()], refs[p.BaseRef()]
	if p.HeadSHA == "" {
		return invalid("PullRequest", "head", "invalid")
	}
	if p.BaseSHA == "" {
		return invalid("PullRequest", "base", "invalid")
	}
	about, err := c.Git().Compare(c.Context(), p.BaseSHA, p.HeadSHA)
	switch {
	case err != nil:
		return err
	case about.MergeBase == "":
		return refused("PullRequest", fmt.Sprintf("The %s branch has no history in common with %s", p.Base, p.Head))
	case about.Ahead == 0:
		return refused("PullRequest", fmt.Sprintf("No commits between %s and %s", p.Base, p.Head))
	}
	return nil
}

func editPull(c *call) (int, any, error) {
	var in edit
	if err := c.decodeDone(&in, undone{resource: "PullRequest", keys: undoneOfPull}); err != nil {
		return 0, nil, err
	}
	in.Reason, in.Labels = nil, nil
	if err := in.check("PullRequest"); err != nil {
		return 0, nil, err
	}
	if _, err := c.PullRequest(); err != nil {
		return 0, nil, err
	}
	refs := c.Forge.LockRefs(c.Repo)
	defer refs.Unlock()
	var edited store.Issue
	err := c.Change(func(t *store.Tx, r store.Repo) (err error) {
		if edited, err = c.edited(t, r, in); err != nil {
			return err
		}
		p := *edited.Pull
		if base := deref(in.Base, p.Base); base != p.Base {
			p.Before, p.Base, p.Rebased = p.Base, base, &store.Edit{By: c.User.ID, At: t.Now}
		}
		if edited.Open() && (in.Base != nil || in.State != nil) {
			if err := c.locate(&p); err != nil {
				return err
			}
		}
		edited.Pull = &p
		t.Put(store.Entry{Repo: c.Name(), Issue: &edited})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	o, err := c.fullPull(edited)
	return http.StatusOK, o, err
}

// computing reports whether the pull request's mergeability is still being computed.
func (c *call) computing(p *store.Pull) bool {
	config := c.server.config
	times, first := c.server.computing.ask(c.Name(), p, c.Forge.Store.Now(), config.Computing > 0 || config.ComputingFor > 0)
	return times <= config.Computing || config.ComputingFor > 0 && c.Forge.Store.Now().Sub(first) < config.ComputingFor
}

// computing counts how often the mergeability of a pair of commits was asked for.
type computing struct {
	mu    sync.Mutex
	asked map[string]asked
}

// asked is how often, and when first.
type asked struct {
	times int
	first time.Time
}

// maxPairs is how many pairs of commits are counted before all are dropped.
const maxPairs = 10_000

// ask counts a question about a head and a base, unless nothing is counted. It returns how
// many there were, and when the first was.
func (a *computing) ask(repo string, p *store.Pull, now time.Time, counted bool) (times int, first time.Time) {
	if !counted {
		return 1, now
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asked == nil || len(a.asked) >= maxPairs {
		a.asked = map[string]asked{}
	}
	key := repo + " " + p.BaseSHA + " " + p.HeadSHA
	of, ok := a.asked[key]
	if !ok {
		of.first = now
	}
	of.times++
	a.asked[key] = of
	return of.times, of.first
}
