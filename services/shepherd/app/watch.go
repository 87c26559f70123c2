package app

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// landing is a visit to a merged pull request (merge-watch lifecycle). It is read once, and then
// watched or reverted.
type landing struct {
	*shepherd
	job  request
	repo forge.Repository
	pr   forge.PullRequest
}

// landed reads the merged pull request, and does the work on it.
func (s *shepherd) landed(ctx context.Context, job request, work func(*landing, context.Context) (instance.Result, error)) (instance.Result, error) {
	number := job.number("prNumber")
	if number == 0 {
		return instance.Result{}, forgeside.EscalateToPeople("no pull request is named whose merge is to be watched")
	}
	repo, err := s.repository(ctx, job)
	if err != nil {
		return instance.Result{}, err
	}
	pr, err := s.forge.PullRequest(ctx, repo.Name, number)
	switch {
	case err != nil:
		return instance.Result{}, forgeside.ToPeople(err, forge.ErrNotFound)
	case !pr.Merged || pr.MergeSHA == "":
		return instance.Result{}, forgeside.EscalateToPeople("pull request #%d is not merged, so there is no merge to watch", number)
	}
	return work(&landing{shepherd: s, job: job, repo: repo, pr: pr}, ctx)
}

// watch looks at the checks of the merge commit, and opens an issue once one is red that
// was not red before the merge. Checks that are cancelled, skipped or never come do nothing.
func (l *landing) watch(ctx context.Context) (instance.Result, error) {
	red, err := l.red(ctx, l.pr.MergeSHA)
	if err != nil {
		return instance.Result{}, err
	}
	before, fresh := "", []merge.Check(nil)
	if len(red) > 0 {
		if before, fresh, err = l.fresh(ctx, red); err != nil {
			return instance.Result{}, err
		}
	}
	if len(fresh) == 0 {
		return l.quiet(len(red)), nil
	}
	issue, err := l.report(ctx, before, fresh)
	if err != nil {
		return instance.Result{}, err
	}
	return done(fmt.Sprintf("%s: issue #%d is open for it", sentence(fresh), issue.Number), "outcome", "red", "followUp", strconv.Itoa(issue.Number)), nil
}

// quiet returns the result of a visit that found nothing new that is red.
func (l *landing) quiet(old int) instance.Result {
	says := fmt.Sprintf("no check of %.7s is red", l.pr.MergeSHA)
	if old > 0 {
		says = fmt.Sprintf("%d checks of %.7s are red, as they were before the merge", old, l.pr.MergeSHA)
	}
	until, err := time.ParseDuration(l.job.text("watch_for"))
	if end := l.job.Opened.Add(until); err == nil && l.now().Before(end) {
		return done(fmt.Sprintf("%s; they are watched until %s", says, end.UTC().Format("15:04 UTC")), "outcome", "waiting")
	}
	return done(says, "outcome", "quiet")
}

// sentence names the checks.
func sentence(checks []merge.Check) string {
	var names []string
	for _, c := range checks {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ") + " went red"
}

// red returns the red checks of a commit.
func (l *landing) red(ctx context.Context, commit string) ([]merge.Check, error) {
	checks, err := forge.ChecksOf(ctx, l.forge, l.repo.Name, commit)
	return merge.Failing(merge.Snapshot{Checks: checks}, merge.Rules{OwnChecks: []string{rules.GatesCheck}}), err
}

// fresh returns those of the red checks that were not red before the merge, and the
// commit of before.
func (l *landing) fresh(ctx context.Context, red []merge.Check) (before string, fresh []merge.Check, err error) {
	m, err := l.merged(ctx)
	if err != nil {
		return "", nil, err
	}
	before, err = l.gate.Workspace.Before(ctx, m)
	if errors.Is(err, workspace.ErrNotContained) || errors.Is(err, workspace.ErrSource) {
		return "", nil, nil // a person took it off the branch: it is nobody's problem any more
	}
	if err != nil {
		return "", nil, err
	}
	was := []merge.Check{}
	if before != "" {
		if was, err = l.red(ctx, before); err != nil {
			return "", nil, err
		}
	}
	for _, c := range red {
		if !slices.ContainsFunc(was, func(o merge.Check) bool { return o.Kind == c.Kind && o.Name == c.Name && o.App == c.App }) {
			fresh = append(fresh, c)
		}
	}
	slices.SortFunc(fresh, func(a, b merge.Check) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind)) })
	return before, fresh, nil
}

// merged describes the merge as git sees it.
func (l *landing) merged(ctx context.Context) (workspace.Merged, error) {
	m := workspace.Merged{Repo: l.repo.Name, From: l.gate.Remote(ctx, l.repo), Branch: l.pr.BaseRef, Commit: l.pr.MergeSHA}
	commits, err := l.forge.Commits(ctx, l.repo.Name, l.pr.Number)
	for _, c := range commits {
		if len(c.Parents) < 2 {
			m.Subjects = append(m.Subjects, c.Subject)
		}
	}
	return m, err
}

// report opens the issue about the checks, once. Without what the checks say if that may
// not leave.
func (l *landing) report(ctx context.Context, before string, red []merge.Check) (forge.Issue, error) {
	l.job.Progress("opening an issue about pull request #%d", l.pr.Number)
	in := forge.NewIssue{Title: l.title(red), Labels: l.job.words("follow_up_labels")}
	open := func(say func(merge.Check) (string, error)) (forge.Issue, error) {
		var err error
		if in.Body, err = l.followUp(before, red, say); err != nil {
			return forge.Issue{}, err
		}
		return forge.Report(ctx, l.forge, l.repo.Name, rules.Marker(l.job.Instance, rules.FollowsMerge), in)
	}
	issue, err := open(func(c merge.Check) (string, error) { return l.why(ctx, c) })
	if errors.As(err, new(*outbound.Refusal)) {
		issue, err = open(func(merge.Check) (string, error) { return "Its output may not be repeated here.", nil })
	}
	return issue, err
}

func (l *landing) title(red []merge.Check) string {
	names := red[0].Name
	if len(red) > 1 {
		names = fmt.Sprintf("%s and %d more checks", names, len(red)-1)
	}
	return fmt.Sprintf("%s went red after pull request #%d was merged", cut(sanitize.Subject(names), maxTitle), l.pr.Number)
}

// The limits of an issue: of a name in its title, in characters, and of what a check says,
// in bytes. A forge takes 65536 characters.
const (
	maxTitle = 150
	maxSays  = 10 << 10
)

// why returns what the forge knows of why a check failed, in Markdown.
func (l *landing) why(ctx context.Context, c merge.Check) (string, error) {
	var why forge.Failure
	if c.ID != 0 {
		var err error
		if why, err = l.forge.Failure(ctx, l.repo.Name, c.ID); err != nil {
			return "", err
		}
	}
	says := explained(c, why)
	if len(says) > maxSays { // the end of a log says most
		half := maxSays / 2
		says = strings.ToValidUTF8(says[:half], "") + "\n[…]\n" + strings.ToValidUTF8(says[len(says)-half:], "")
	}
	// A comment in a log is no marker of ours.
	return sanitize.Verbatim(strings.ReplaceAll(says, "<!--", "<! --")), nil
}

//go:embed text/follow_up.md
var followUpText string

// followUp returns the body of the issue.
func (l *landing) followUp(before string, red []merge.Check, say func(merge.Check) (string, error)) (string, error) {
	type check struct{ Title, Text string }
	data := struct {
		Pull                  int
		Merge, Branch, Before string
		Checks                []check
		More                  int
	}{Pull: l.pr.Number, Merge: l.pr.MergeSHA, Branch: l.pr.BaseRef, Before: cmp.Or(before, "the commit"), More: max(0, len(red)-maxFailing)}
	for _, c := range red[:len(red)-data.More] {
		says, err := say(c)
		if err != nil {
			return "", err
		}
		if at, ok := details(c); ok {
			says = "<" + at + ">\n\n" + says
		}
		data.Checks = append(data.Checks, check{sanitize.MarkdownLine(c.Name), says})
	}
	var out bytes.Buffer
	// The text is part of the program: one that fails is a mistake in it.
	if err := template.Must(template.New("follow-up").Parse(followUpText)).Execute(&out, data); err != nil {
		panic(err)
	}
	return strings.TrimSpace(out.String()), nil
}
