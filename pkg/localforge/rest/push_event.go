package rest

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge/bare"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// maxPushed is how many commits a push event lists, as at GitHub.
const maxPushed = 2048

// pushEvents are those of a move of a branch: the push itself, and that the branch is new
// or gone.
func (c *call) pushEvents(p store.Push) []event {
	v, made, gone := c.view(), p.Before == store.ZeroSHA, p.After == store.ZeroSHA
	commits, head := []object{}, any(nil)
	if !gone {
		since := []string{p.After, "^" + p.Before}
		if made {
			since = []string{p.After, "--not", "refs/heads/" + c.Repo.Branch}
		}
		found, _ := c.Git().Commits(c.Context(), append([]string{"--reverse", "--max-count=2048"}, since...)...) // those that are gone are not listed
		for _, one := range found[:min(len(found), maxPushed)] {
			commits = append(commits, v.pushed(c.Repo, one))
		}
		head = c.pushedCommit(p.After)
	}
	name := strings.TrimPrefix(strings.TrimPrefix(p.Ref, "refs/heads/"), "refs/tags/")
	pusher, _ := c.State.Accounts.Get(p.Actor)
	all := []event{{name: "push", body: object{
		"ref": p.Ref, "before": p.Before, "after": p.After, "created": made, "deleted": gone, "forced": p.Kind == "force_push", "base_ref": nil,
		"compare": v.RepoURL(c.Repo) + "/compare/" + p.Before[:12] + "..." + p.After[:12], "commits": commits, "head_commit": head,
		"pusher": object{"name": pusher.Login, "email": pusher.Email()},
	}}}
	ref := object{"ref": name, "ref_type": "branch", "pusher_type": "user"}
	switch {
	case made:
		all = append(all, event{name: "create", body: with(with(ref, "master_branch", c.Repo.Branch), "description", nil)})
	case gone:
		all = append(all, event{name: "delete", body: ref})
	}
	return all
}

// pushed returns a commit as a push event has it.
func (v view) pushed(r store.Repo, m bare.Commit) object {
	by := func(s bare.Signature) object {
		return object{"name": s.Name, "email": s.Email, "username": s.Name, "date": s.Date}
	}
	return object{
		"id": m.SHA, "tree_id": m.Tree, "distinct": true, "message": m.Message, "timestamp": m.Committer.Date,
		"url": v.RepoURL(r) + "/commit/" + m.SHA, "author": by(m.Author), "committer": by(m.Committer),
		"added": []string{}, "removed": []string{}, "modified": []string{},
	}
}

// pushedCommit returns the commit as a push event has it, null if it is gone.
func (c *call) pushedCommit(sha string) any {
	found, err := c.Git().Commits(c.Context(), "--no-walk=unsorted", sha)
	if err != nil || len(found) == 0 {
		return nil
	}
	return c.view().pushed(c.Repo, found[0])
}

// listedCommit returns the commit as lists have it, null if it is gone.
func (c *call) listedCommit(sha string) any {
	found, err := c.Git().Commits(c.Context(), "--no-walk=unsorted", sha)
	if err != nil || len(found) == 0 {
		return nil
	}
	return c.view().commit(c.Repo, found[0])
}

// suite returns the check suite of an App on a commit, which has ended with the run.
func (v view) suite(r store.Repo, last store.Check, runs []store.Check) object {
	var conclusions []string
	for _, k := range runs {
		conclusions = append(conclusions, k.Conclusion)
	}
	slices.Sort(conclusions)
	return object{
		"id": runs[0].ID, "node_id": nodeID("CheckSuite", runs[0].ID), "head_sha": last.SHA, "head_branch": nil, "status": "completed",
		"conclusion": suiteConclusion(conclusions), "url": v.RepoAPI(r) + "/commits/" + last.SHA + "/check-suites", "before": nil, "after": nil,
		"pull_requests": v.pullsAt(r, last.SHA), "app": v.app(last.App), "latest_check_runs_count": len(runs),
		"check_runs_url": v.RepoAPI(r) + "/commits/" + last.SHA + "/check-runs", "created_at": moment(runs[0].Started), "updated_at": moment(last.Completed),
	}
}

// suiteConclusion returns the worst of the conclusions.
func suiteConclusion(of []string) string {
	for _, worst := range []string{"action_required", "timed_out", "cancelled", "failure", "success", "neutral"} {
		if slices.Contains(of, worst) {
			return worst
		}
	}
	return "skipped"
}
