package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/merge"
)

// answer is the implementer's newest answer that nothing was done about yet.
func (t *turn) answer() (q instance.Question, ok bool) {
	for _, asked := range t.job.Questions {
		if asked.To == implementer && asked.From == t.job.Role && asked.Answered && asked.Number > number(t.job, "answered") {
			q, ok = asked, true
		}
	}
	return q, ok
}

// respond brings the implementer's work to the branch and tells the reviewers.
// The work has to pass the same gate as the first one (story lifecycle:
// responding to reviews). What somebody else pushed meanwhile stays, and is
// worked in next.
func (t *turn) respond(ctx context.Context, q instance.Question) (instance.Result, error) {
	answered := strconv.Itoa(q.Number)
	ev, ok := accepted(t.job, t.job.Head)
	if !ok {
		r := t.unfit(answered, "the acceptance criteria have not passed on %.7s: %s", t.job.Head, q.Answer)
		r.IssuesFound = ev.Failed
		return r, nil
	}
	if markLine.MatchString(q.Text) {
		left, err := t.workspace.Unresolved(ctx, t.spec())
		if err != nil {
			return instance.Result{}, err
		}
		if left != nil {
			r := t.unfit(answered, "a conflict is not resolved")
			r.IssuesFound = left
			return r, nil
		}
	}
	moved := t.job.Head != t.world.Head
	if moved {
		theirs, err := t.push(ctx)
		if err != nil {
			return instance.Result{}, err
		}
		if theirs != nil {
			return t.anew(forgeside.WithData(t.outcome("reviewed", "somebody else pushed meanwhile: %v", theirs), "answered", answered)), nil
		}
	}
	if err := t.reply(ctx, q, ev); err != nil {
		return instance.Result{}, err
	}
	r := t.outcome("responded", "%.7s answers the reviewers", t.job.Head)
	return forgeside.WithData(r, "answered", answered, "pushed", t.job.Head, "seen", listed(t.taken(q)), "lastActivityBy", merge.Bot), nil
}

// unfit is an answer that cannot be brought to the branch.
func (t *turn) unfit(answered, format string, args ...any) instance.Result {
	return t.anew(forgeside.WithData(t.outcome("unfit", format, args...), "answered", answered))
}

func (t *turn) spec() workspace.Spec {
	return workspace.Spec{Repo: t.job.Issue.Repo, Bundles: forgeside.BundleObjects(t.job), Base: t.job.Base, Head: t.job.Head}
}

// push brings the branch to the work's head. theirs says that it holds other
// commits, which are never overwritten.
func (t *turn) push(ctx context.Context) (theirs, err error) {
	repo, err := t.repository(ctx, t.job)
	if err != nil {
		return nil, err
	}
	t.job.Progress("pushing %s", t.world.HeadRef)
	_, err = t.workspace.Push(ctx, workspace.Delivery{Repo: repo.Name, Bundles: forgeside.BundleObjects(t.job), Head: t.job.Head, Branch: t.world.HeadRef, To: t.remote(repo)})
	switch {
	case errors.Is(err, workspace.ErrForeign):
		return err, nil
	case errors.Is(err, workspace.ErrRejected):
		return nil, forgeside.EscalateToPeople("%v", err)
	}
	return nil, err
}

// reply tells the reviewers what was done: in one comment, and in each
// conversation on lines. One that was worked in is ended.
func (t *turn) reply(ctx context.Context, q instance.Question, ev instance.Evidence) error {
	keys := remarksIn(q.Text)
	if len(keys) == 0 {
		return nil // nobody said anything
	}
	if err := t.conversations(ctx, keys); err != nil {
		return err
	}
	marker := rules.Marker(t.job.Instance, fmt.Sprintf("answer-%d", q.Number))
	response := rules.Response{Summary: q.Answer, Tests: ev}
	response.Tests.Passed = 0 // which counts criteria, not tests
	if t.job.Head != t.job.Vars["pushed"] {
		response.Commit = t.job.Head
	}
	for _, c := range t.world.Comments {
		if contains(keys, key(c)) && c.Path == "" {
			response.Remarks = append(response.Remarks, c.URL)
		}
	}
	for _, r := range t.world.Reviews {
		if contains(keys, fmt.Sprintf("review %d", r.ID)) {
			response.Remarks = append(response.Remarks, r.URL)
		}
	}
	said, err := forge.Post(ctx, t.forge, t.world.Repo, t.world.Number, marker, rules.Responded(response))
	if err != nil {
		return err
	}
	for _, k := range keys {
		rest, onLine := strings.CutPrefix(k, "line ")
		if !onLine {
			continue
		}
		id, err := strconv.ParseInt(rest, 10, 64)
		if err != nil {
			return err
		}
		if err := forge.Answer(ctx, t.forge, t.world.Repo, t.world.Number, id, marker, "Answered in "+said.URL+"."); err != nil {
			return err
		}
		if err := t.end(ctx, id, response.Commit != ""); err != nil {
			return err
		}
	}
	return nil
}

// conversations reads those that the look could not: whoever answers in one ends it
// then, or never does.
func (t *turn) conversations(ctx context.Context, keys []string) error {
	unread := slices.ContainsFunc(t.world.Unread, func(u merge.Unread) bool { return u.Part == merge.PartStanding })
	onLine := slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(k, "line ") })
	if !unread || !onLine {
		return nil
	}
	standing, err := t.forge.Standing(ctx, t.world.Repo, t.world.Number)
	if err == nil {
		t.world.Threads = standing.Threads
	}
	if errors.Is(err, forge.ErrUnavailable) || errors.Is(err, forge.ErrRateLimited) {
		return err
	}
	return nil // what the forge does not show it does not have ended either
}

// end ends the conversation of the comment, if the policy has us do that and
// something was changed: who gets a no may insist.
func (t *turn) end(ctx context.Context, comment int64, changed bool) error {
	i := slices.IndexFunc(t.world.Threads, func(th merge.Thread) bool { return slices.Contains(th.Comments, comment) })
	if i < 0 || t.world.Threads[i].Resolved || !changed || !yes(t.job, "resolve_threads") {
		return nil
	}
	return t.forge.Resolve(ctx, t.world.Threads[i].ID)
}

// taken are the remarks that have been taken into account once the question is
// answered: those before, and those it put. Where none were counted before,
// those from before the last push are.
func (t *turn) taken(q instance.Question) []string {
	keys := seen(t.job)
	if keys == nil {
		fresh := map[string]bool{}
		for _, r := range t.last.New {
			fresh[r.Key] = true
		}
		all := t.world
		all.Seen = []string{}
		for _, r := range merge.Activity(all).New {
			if !fresh[r.Key] {
				keys = append(keys, r.Key)
			}
		}
	}
	keys = append(slices.Clone(keys), remarksIn(q.Text)...)
	slices.Sort(keys)
	return slices.Compact(keys)
}

// key is a comment's as a remark.
func key(c merge.Comment) string {
	if c.Path != "" {
		return fmt.Sprintf("line %d", c.ID)
	}
	return fmt.Sprintf("comment %d", c.ID)
}
