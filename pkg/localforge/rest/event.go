package rest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// event is the payload of one change for webhooks.
type event struct {
	name, action string
	body         object // what is the event's own
	app          int64  // the only App that gets it, 0: all that listen
}

// events returns what a change of one row tells. The call is of the state after it, by
// whoever made it.
func (c *call) events(before store.Repo, e store.Entry) []event {
	switch {
	case e.Repository != nil:
		return repositoryEvents(before.Repository, *e.Repository)
	case e.Renamed != "":
		return []event{{name: "repository", action: "renamed", body: object{"changes": object{"repository": object{"name": object{"from": before.Name}}}}}}
	case e.Issue != nil:
		was, ok := before.Issues.Get(e.Issue.Number)
		if e.Issue.Pull != nil {
			return c.pullEvents(was, *e.Issue, ok)
		}
		return c.issueEvents(was, *e.Issue, ok)
	case e.Comment != nil:
		return c.commentEvents(before, *e.Comment)
	case e.Review != nil:
		return c.reviewEvents(before, *e.Review)
	case e.Line != nil:
		return c.lineEvents(before, *e.Line)
	case e.Status != nil:
		return []event{{name: "status", body: c.statusBody(*e.Status)}}
	case e.Check != nil:
		return c.checkEvents(before, *e.Check)
	case e.Push != nil:
		return c.pushEvents(*e.Push)
	}
	return nil
}

func repositoryEvents(was, now store.Repository) []event {
	action := ""
	switch {
	case was.ID == 0:
		action = "created"
	case now.Archived && !was.Archived:
		action = "archived"
	case was.Archived && !now.Archived:
		action = "unarchived"
	default:
		return nil
	}
	return []event{{name: "repository", action: action}}
}

// edits are the changes of a title and a body, and the locks and labels, that issues and
// pull requests have in common.
func (c *call) edits(name string, was, now store.Issue, existed bool, body func(object) object) []event {
	var all []event
	add := func(action string, more object) {
		all = append(all, event{name: name, action: action, body: body(more)})
	}
	if existed {
		changes := object{}
		if was.Title != now.Title {
			changes["title"] = object{"from": was.Title}
		}
		if was.Body != now.Body {
			changes["body"] = object{"from": was.Body}
		}
		if now.Pull != nil && was.Pull.Base != now.Pull.Base {
			changes["base"] = object{"ref": object{"from": was.Pull.Base}, "sha": object{"from": was.Pull.BaseSHA}}
		}
		if len(changes) > 0 {
			add("edited", object{"changes": changes})
		}
	}
	v := c.view()
	for _, label := range now.Labels {
		if !slices.Contains(was.Labels, label) {
			l, _ := c.Repo.Label(label)
			add("labeled", object{"label": v.label(c.Repo, l)})
		}
	}
	for _, label := range was.Labels {
		if !slices.Contains(now.Labels, label) {
			l, _ := c.Repo.Label(label)
			add("unlabeled", object{"label": v.label(c.Repo, l)})
		}
	}
	switch {
	case now.Locked && !was.Locked:
		add("locked", nil)
	case was.Locked && !now.Locked:
		add("unlocked", nil)
	}
	return all
}

func (c *call) issueEvents(was, now store.Issue, existed bool) []event {
	body := func(more object) object { return with(more, "issue", c.view().issue(c.Repo, now)) }
	var all []event
	add := func(action string) { all = append(all, event{name: "issues", action: action, body: body(nil)}) }
	if !existed {
		add("opened")
	}
	all = append(all, c.edits("issues", was, now, existed, body)...)
	switch {
	case !existed:
	case now.Gone != nil && was.Gone == nil:
		return append(all, c.goneEvent(now, body))
	case was.State == "open" && now.State == "closed":
		add("closed")
	case was.State == "closed" && now.State == "open":
		add("reopened")
	}
	return all
}

// goneEvent says that the issue was deleted, or where it was transferred to.
func (c *call) goneEvent(now store.Issue, body func(object) object) event {
	to, ok := c.State.ByID(now.Gone.Repo)
	if !ok {
		return event{name: "issues", action: "deleted", body: body(nil)}
	}
	v := c.view()
	there, _ := to.Issues.Get(now.Gone.Number)
	return event{name: "issues", action: "transferred",
		body: body(object{"changes": object{"new_issue": v.issue(to, there), "new_repository": v.repo(to)}})}
}

func (c *call) pullEvents(was, now store.Issue, existed bool) []event {
	var shown object // made once
	body := func(more object) object {
		if shown == nil {
			about, _ := c.Git().Compare(c.Context(), now.Pull.BaseSHA, now.Pull.HeadSHA) // counts of commits that are gone are 0
			shown = c.countedPull(now, about)
		}
		return with(with(more, "pull_request", shown), "number", now.Number)
	}
	var all []event
	add := func(action string, more object) {
		all = append(all, event{name: "pull_request", action: action, body: body(more)})
	}
	q, v := now.Pull, c.view()
	request := func(before []int64) {
		for _, id := range q.Asked {
			if !slices.Contains(before, id) {
				add("review_requested", object{"requested_reviewer": v.user(id)})
			}
		}
	}
	if !existed {
		add("opened", nil)
		all = append(all, c.edits("pull_request", was, now, false, body)...)
		request(nil)
		return all
	}
	p := was.Pull
	if was.Open() && p.HeadSHA != q.HeadSHA {
		add("synchronize", object{"before": p.HeadSHA, "after": q.HeadSHA})
	}
	all = append(all, c.edits("pull_request", was, now, true, body)...)
	switch {
	case p.Draft && !q.Draft:
		add("ready_for_review", nil)
	case q.Draft && !p.Draft:
		add("converted_to_draft", nil)
	}
	request(p.Asked)
	reviewed := slices.ContainsFunc(c.Repo.ReviewsOf(now.Number), func(w store.Review) bool { return w.Submitted.Equal(now.Updated) })
	for _, id := range p.Asked {
		if !slices.Contains(q.Asked, id) && !reviewed { // a review ends the request without a notice
			add("review_request_removed", object{"requested_reviewer": v.user(id)})
		}
	}
	all = append(all, c.queueEvents(was, now, body)...)
	switch {
	case was.State == "open" && now.State == "closed":
		add("closed", nil)
	case was.State == "closed" && now.State == "open":
		add("reopened", nil)
	}
	return all
}

// removals are GitHub's words for how a place in a merge queue ended.
var removals = map[string]string{
	"removed manually": "MANUAL", "merge conflict": "MERGE_CONFLICT", "failed checks": "CI_FAILURE", "the head changed": "UNKNOWN_REMOVAL_REASON",
}

// queueEvents are those of the merge queue, and of the commits that are tested for it.
func (c *call) queueEvents(was, now store.Issue, body func(object) object) []event {
	var all []event
	p, q := was.Pull, now.Pull
	before, after := deref(p.Queued, store.Queued{}), deref(q.Queued, store.Queued{})
	if p.Queued == nil && q.Queued != nil {
		all = append(all, event{name: "pull_request", action: "enqueued", body: body(nil)})
	}
	group := func(action, reason string, of store.Queued) {
		o := object{"merge_group": object{"head_sha": of.Group, "head_ref": groupRef(now), "base_sha": of.On, "base_ref": q.BaseRef(),
			"head_commit": c.pushedCommit(of.Group)}}
		if reason != "" {
			o["reason"] = reason
		}
		all = append(all, event{name: "merge_group", action: action, body: o})
	}
	if before.Group != "" && before.Group != after.Group {
		reason := "dequeued"
		switch {
		case q.Merged != nil:
			reason = "merged"
		case q.Queued != nil:
			reason = "invalidated"
		}
		group("destroyed", reason, before)
	}
	if after.Group != "" && before.Group != after.Group {
		group("checks_requested", "", after)
	}
	if p.Queued != nil && q.Queued == nil {
		reason := "MERGE"
		if q.Merged == nil {
			reason = cmp.Or(removals[deref(q.Unqueued, store.Unqueued{}).Reason], "UNKNOWN_REMOVAL_REASON")
		}
		all = append(all, event{name: "pull_request", action: "dequeued", body: body(object{"reason": reason})})
	}
	return all
}

func (c *call) commentEvents(before store.Repo, now store.Comment) []event {
	was, existed := before.Comments.Get(now.ID)
	action, more := "created", object(nil)
	switch {
	case !existed:
	case now.Deleted && !was.Deleted:
		action = "deleted"
	case now.Body != was.Body:
		action, more = "edited", object{"changes": object{"body": object{"from": was.Body}}}
	default:
		return nil
	}
	v := c.view()
	i, _ := c.Repo.Issues.Get(now.Issue)
	return []event{{name: "issue_comment", action: action, body: with(with(more, "comment", v.comment(c.Repo, now)), "issue", v.issue(c.Repo, i))}}
}

func (c *call) reviewEvents(before store.Repo, now store.Review) []event {
	was, existed := before.Reviews.Get(now.ID)
	action := "submitted"
	switch {
	case !existed:
	case now.State == "DISMISSED" && was.State != now.State:
		action = "dismissed"
	default:
		return nil
	}
	v := c.view()
	review := v.review(c.Repo, now)
	review["state"] = strings.ToLower(now.State) // so in webhooks
	i, _ := c.Repo.Issues.Get(now.Pull)
	return []event{{name: "pull_request_review", action: action, body: object{"review": review, "pull_request": v.pull(c.Repo, i)}}}
}

func (c *call) lineEvents(before store.Repo, now store.LineComment) []event {
	was, existed := before.Lines.Get(now.ID)
	i, _ := c.Repo.Issues.Get(now.Pull)
	pull := c.view().pull(c.Repo, i)
	shown := func(l store.LineComment) object {
		o, err := c.lineComment(l)
		if err != nil { // its commit is gone
			return object{"id": l.ID, "body": l.Body, "path": l.Path, "user": c.view().user(l.Author)}
		}
		return o
	}
	if existed && now.Resolved != was.Resolved {
		action := "unresolved"
		if now.Resolved {
			action = "resolved"
		}
		comments := each(c.Repo.Lines.Where(func(l store.LineComment) bool { return !l.Deleted && (l.ID == now.ID || l.ReplyTo == now.ID) }), shown)
		return []event{{name: "pull_request_review_thread", action: action, body: object{"pull_request": pull,
			"thread": object{"node_id": nodeID("PullRequestReviewThread", now.ID), "comments": comments}}}}
	}
	action, more := "created", object(nil)
	switch {
	case !existed:
	case now.Deleted && !was.Deleted:
		action = "deleted"
	case now.Body != was.Body:
		action, more = "edited", object{"changes": object{"body": object{"from": was.Body}}}
	default:
		return nil
	}
	return []event{{name: "pull_request_review_comment", action: action, body: with(with(more, "comment", shown(now)), "pull_request", pull)}}
}

// statusBody returns the body of a status event, which has its fields at the top.
func (c *call) statusBody(s store.Status) object {
	v := c.view()
	branches := []object{}
	for _, i := range c.Repo.Issues {
		if i.Open() && i.Pull.HeadSHA == s.SHA {
			branches = append(branches, object{"name": i.Pull.Head, "protected": false,
				"commit": object{"sha": s.SHA, "url": v.RepoAPI(c.Repo) + "/commits/" + s.SHA}})
		}
	}
	return object{
		"id": s.ID, "sha": s.SHA, "name": c.Repo.FullName(), "context": s.Context, "state": s.State, "description": optional(s.Description),
		"target_url": optional(s.TargetURL), "avatar_url": nil, "branches": branches, "commit": c.listedCommit(s.SHA),
		"created_at": s.Created, "updated_at": s.Created,
	}
}

func (c *call) checkEvents(before store.Repo, now store.Check) []event {
	was, existed := before.Checks.Get(now.ID)
	body := func() object { return object{"check_run": c.view().check(c.Repo, now)} }
	var all []event
	if !existed {
		all = append(all, event{name: "check_run", action: "created", body: body()})
	}
	if now.Status != "completed" || was.Status == "completed" && was.Conclusion == now.Conclusion {
		return all
	}
	all = append(all, event{name: "check_run", action: "completed", body: body()})
	runs := slices.DeleteFunc(c.Repo.LatestChecks(now.SHA), func(k store.Check) bool { return k.App != now.App })
	if slices.ContainsFunc(runs, func(k store.Check) bool { return k.Status != "completed" }) {
		return all
	}
	return append(all, event{name: "check_suite", action: "completed", body: object{"check_suite": c.view().suite(c.Repo, now, runs)}})
}
