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
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// answer returns the implementer's newest answer that is not handled yet.
func (t *visit) answer() (q instance.Question, ok bool) {
	for _, asked := range t.job.Questions {
		if asked.To == implementer && asked.From == t.job.Role && asked.Answered && asked.Number > t.job.number("answered") {
			q, ok = asked, true
		}
	}
	return q, ok
}

// respond pushes the implementer's work to the branch and replies to the reviewers. The
// work must pass the same gate as the first (story lifecycle: responding to reviews).
// Commits that others pushed meanwhile stay, and are worked in next.
func (t *visit) respond(ctx context.Context) (r instance.Result, done bool, err error) {
	q, is := t.answer()
	if !is {
		return r, false, nil
	}
	answered := strconv.Itoa(q.Number)
	ev, ok := t.job.accepted(t.job.Head)
	if !ok {
		r = t.unfit(answered, "the acceptance criteria have not passed on %.7s: %s", t.job.Head, q.Answer)
		r.IssuesFound = ev.Failed
		r.Evidence[len(r.Evidence)-1].Data = map[string]string{didNotPass: t.job.Head}
		return r, true, nil
	}
	if markLine.MatchString(q.Text) {
		left, err := t.gate.Workspace.Unresolved(ctx, workspace.Spec{Repo: t.job.Issue.Repo, Bundles: forgeside.BundleObjects(t.job.Job),
			Base: t.job.Base, Head: t.job.Head})
		if err != nil {
			return r, true, err
		}
		if left != nil {
			r = t.unfit(answered, "a conflict is not resolved")
			r.IssuesFound = left
			return r, true, nil
		}
	}
	if t.job.Head != t.snapshot.Head {
		repo, err := t.repository(ctx, t.job)
		if err == nil {
			t.job.Progress("pushing %s", t.snapshot.HeadRef)
			err = t.gate.Push(ctx, t.job.Job, repo, t.snapshot.HeadRef)
		}
		if errors.Is(err, workspace.ErrForeign) {
			return t.requireNewRun(forgeside.WithData(t.outcome("reviewed", "another account pushed meanwhile: %v", err), "answered", answered)),
				true, nil
		}
		if err != nil {
			return r, true, forgeside.ToPeople(err, workspace.ErrRejected)
		}
	}
	commit := ""
	if t.job.Head != t.job.Vars["pushed"] {
		commit = t.job.Head
	}
	refusal := t.reply(ctx, q, ev, commit)
	switch {
	case forgeside.RefusesComment(refusal): // the work is pushed; the reply is owed
		t.owe(q, commit, refusal)
	case refusal != nil:
		return r, true, refusal
	}
	r = t.outcome("responded", "%.7s answers the reviewers", t.job.Head)
	if refusal != nil {
		r.Summary += fmt.Sprintf(" (no comment reports it yet: %v)", refusal)
	}
	return forgeside.WithData(r, "answered", answered, "pushed", t.job.Head, "seen", listed(t.handledRemarks(q)), "lastActivityBy",
		merge.Bot), true, nil
}

// unfit returns the result of an answer whose work cannot be pushed.
func (t *visit) unfit(answered, format string, args ...any) instance.Result {
	return t.requireNewRun(forgeside.WithData(t.outcome("unfit", format, args...), "answered", answered))
}

// reply replies to the reviewers in one comment, and in each conversation on lines. It
// resolves those that were worked in. commit is the one that was pushed for them; empty:
// nothing was changed. A conversation that takes no reply does not keep the others from theirs.
func (t *visit) reply(ctx context.Context, q instance.Question, ev instance.Evidence, commit string) error {
	keys := remarksIn(q.Text)
	if len(keys) == 0 {
		return nil // there is no remark to reply to
	}
	if err := t.readConversations(ctx, keys); err != nil {
		return err
	}
	marker := rules.Marker(t.job.Instance, fmt.Sprintf("answer-%d", q.Number))
	response := rules.Response{Summary: q.Answer, Tests: ev, Commit: commit}
	response.Tests.Passed = 0 // which counts criteria, not tests
	for _, c := range t.snapshot.Comments {
		if slices.Contains(keys, key(c)) && c.Path == "" {
			response.Remarks = append(response.Remarks, c.URL)
		}
	}
	for _, r := range t.snapshot.Reviews {
		if slices.Contains(keys, fmt.Sprintf("review %d", r.ID)) {
			response.Remarks = append(response.Remarks, r.URL)
		}
	}
	for _, c := range t.snapshot.Checks {
		if at, ok := details(c); ok && slices.Contains(keys, t.checkKey(c)) {
			response.Remarks = append(response.Remarks, at)
		}
	}
	said, err := forge.Post(ctx, t.forge, t.snapshot.Repo, t.snapshot.Number, marker, rules.Responded(response))
	if err != nil {
		return err
	}
	var refused error
	for _, k := range keys {
		rest, onLine := strings.CutPrefix(k, "line ")
		if !onLine {
			continue
		}
		id, err := strconv.ParseInt(rest, 10, 64)
		if err != nil {
			return err
		}
		err = forge.Answer(ctx, t.forge, t.snapshot.Repo, t.snapshot.Number, id, marker, "Answered in "+said.URL+".")
		if forgeside.RefusesComment(err) {
			refused = err
			continue
		}
		if err != nil {
			return err
		}
		if err := t.resolveConversation(ctx, id, commit != ""); err != nil {
			return err
		}
	}
	return refused
}

// readConversations reads the conversations if the observation could not. They can only
// be resolved together with the reply.
func (t *visit) readConversations(ctx context.Context, keys []string) error {
	unread := slices.ContainsFunc(t.snapshot.Unread, func(u merge.Unread) bool { return u.Part == merge.PartReviewState })
	onLine := slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(k, "line ") })
	if !unread || !onLine {
		return nil
	}
	state, err := t.forge.ReviewState(ctx, t.snapshot.Repo, t.snapshot.Number)
	if err == nil {
		t.snapshot.Threads = state.Threads
	}
	if errors.Is(err, forge.ErrUnavailable) || errors.Is(err, forge.ErrRateLimited) {
		return err
	}
	return nil // conversations that the forge does not show cannot be resolved
}

// resolveConversation resolves the conversation of the comment if the policy says so and
// something was changed. A refusal leaves it open, so that the reviewer may insist.
func (t *visit) resolveConversation(ctx context.Context, comment int64, changed bool) error {
	i := slices.IndexFunc(t.snapshot.Threads, func(th merge.Thread) bool { return slices.Contains(th.Comments, comment) })
	if i < 0 || t.snapshot.Threads[i].Resolved || !changed || !t.job.yes("resolve_threads") {
		return nil
	}
	err := t.forge.Resolve(ctx, t.job.Issue.Repo, t.snapshot.Threads[i].ID)
	if forgeside.RefusesComment(err) { // a person resolves it, whom the gate threads-resolved waits for
		t.logUntold("a conversation stays open: the forge does not let us resolve it", err, "instance", t.job.Instance)
		return nil
	}
	return err
}

// handledRemarks returns the keys of the remarks that are handled once the question is
// answered: those of the question and those before. If none were recorded before, the
// remarks from before the last push count as handled.
func (t *visit) handledRemarks(q instance.Question) []string {
	keys := t.job.seen()
	if keys == nil {
		fresh := map[string]bool{}
		for _, r := range t.activity.New {
			fresh[r.Key] = true
		}
		all := t.snapshot
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

// key returns the key of a comment as a remark.
func key(c merge.Comment) string {
	if c.Path != "" {
		return fmt.Sprintf("line %d", c.ID)
	}
	return fmt.Sprintf("comment %d", c.ID)
}
