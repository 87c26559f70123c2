package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// revertPrefix begins the names of the branches that revert a merge. The number of the
// pull request follows.
const revertPrefix = "signalbox/revert-"

// revert opens a draft pull request that reverts the merge, once (merge-watch lifecycle,
// reverting). A story brings it to its merge. A revert is not reverted: people decide then.
func (l *landing) revert(ctx context.Context) (instance.Result, error) {
	if strings.HasPrefix(l.pr.HeadRef, revertPrefix) {
		return l.leave(ctx, "It is a revert itself, which is not reverted.")
	}
	m, err := l.merged(ctx)
	if err != nil {
		return instance.Result{}, err
	}
	title := fmt.Sprintf("Revert %q", sanitize.Subject(l.pr.Title))
	undo := workspace.Reversal{
		Merged: m, Base: l.job.Base, Bundles: forgeside.BundleObjects(l.job.Job),
		Message: fmt.Sprintf("%s\n\nThis reverts commit %s.", title, l.pr.MergeSHA),
	}
	r, err := l.gate.Workspace.Revert(ctx, undo)
	switch {
	case errors.Is(err, workspace.ErrNotContained), err == nil && r.Undone:
		return l.leave(ctx, "There is nothing left of it to revert.")
	case err != nil:
		return instance.Result{}, forgeside.ToPeople(err, workspace.ErrSource)
	case r.Conflicts != nil:
		return l.leave(ctx, "A revert conflicts with what came later: people have to revert it, or mend it. In conflict are:\n\n"+listOf(r.Conflicts))
	}
	return l.proposeRevert(ctx, title, r)
}

// proposeRevert pushes the commit and opens its pull request.
func (l *landing) proposeRevert(ctx context.Context, title string, r workspace.Reverted) (instance.Result, error) {
	branch, job := revertPrefix+strconv.Itoa(l.pr.Number), l.job.Job
	job.Head, job.Bundles = r.Head, append(job.Bundles[:len(job.Bundles):len(job.Bundles)], instance.Bundle{Object: r.Bundle, Head: r.Head})
	job.Progress("pushing %s", branch)
	if err := forgeside.ToPeople(l.gate.Push(ctx, job, l.repo, branch), workspace.ErrForeign, workspace.ErrRejected); err != nil {
		return instance.Result{}, err
	}
	pr, own, err := l.gate.Propose(ctx, l.forge, job, forgeside.Proposal{
		Repo: l.repo, Branch: branch, Base: l.pr.BaseRef, Draft: true, Title: cut(title, maxTitle),
		Body: fmt.Sprintf("This reverts #%d, which was merged as %s: see #%d.", l.pr.Number, l.pr.MergeSHA, l.job.number("followUp")),
	})
	switch {
	case err != nil:
		return instance.Result{}, forgeside.ToPeople(err, forge.ErrInvalid)
	case !own:
		return instance.Result{}, forgeside.EscalateToPeople("pull request #%d is for branch %s, and is not mine: %s", pr.Number, branch, pr.URL)
	}
	story, err := json.Marshal(map[string]any{"id": branch, "title": title, "acceptanceCriteria": []string{}})
	if err != nil {
		return instance.Result{}, err
	}
	out := done(fmt.Sprintf("pull request #%d reverts #%d: %s", pr.Number, l.pr.Number, pr.URL),
		"outcome", "proposed", "prNumber", strconv.Itoa(pr.Number), "branch", branch, "pushed", r.Head, "story", string(story))
	if out.Bundle = r.Bundle; l.job.Base == "" {
		out.Base = r.Head
	} else {
		out.Head = r.Head
	}
	return out, nil
}

// leave says in the issue why the merge is not reverted, once. If the issue takes no comment,
// that is owed.
func (l *landing) leave(ctx context.Context, why string) (instance.Result, error) {
	_, err := forge.Post(ctx, l.forge, l.repo.Name, l.job.number("followUp"), rules.Marker(l.job.Instance, "revert"),
		fmt.Sprintf("Pull request #%d is not reverted. %s", l.pr.Number, why))
	r := done(strings.Join(strings.Fields(why), " "), "outcome", "conflict")
	if forgeside.RefusesComment(err) { // the PM posts it later
		l.logUntold("the reason why a merge is not reverted follows later: the issue takes no comment", err, "instance", l.job.Instance)
		r.Summary = fmt.Sprintf("Pull request #%d is not reverted. %s", l.pr.Number, r.Summary)
		return forgeside.WithData(r, forgeside.Untold, err.Error()), nil
	}
	return r, err
}

// maxFiles is how many files are listed.
const maxFiles = 20

func listOf(files []string) string {
	var out strings.Builder
	for i, file := range files {
		if i == maxFiles {
			fmt.Fprintf(&out, "- and %d more\n", len(files)-i)
			break
		}
		fmt.Fprintf(&out, "- %s\n", sanitize.Code(file))
	}
	return out.String()
}

// cut returns the beginning of a text, at most so many characters.
func cut(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + " …"
	}
	return s
}
