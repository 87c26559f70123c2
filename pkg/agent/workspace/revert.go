package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// Merged is a pull request that was merged.
type Merged struct {
	Repo   string
	From   Remote
	Branch string // that it was merged into
	Commit string // that it was merged as: the last one, if it was rebased
	// Subjects are those of its own commits, oldest first, but for merges.
	Subjects []string
}

// ErrNotContained means that the branch does not have the commit.
var ErrNotContained = errors.New("the branch does not have the commit")

// Before returns the commit that the branch was at before the merge: the first parent of
// a merge or of a squashed commit, and what the first of rebased commits is on; "" if
// the branch began with it. Its errors are those of MergeBranch, and ErrNotContained.
func (c *Cache) Before(ctx context.Context, m Merged) (string, error) {
	_, before, _, err := c.merged(ctx, m)
	return before, err
}

// Reversal is a request to undo a merge.
type Reversal struct {
	Merged
	Bundles []string // of the work so far, object names, the base's first
	Base    string   // commit that the work started from; empty: there is none
	Message string
}

// Reverted is a commit that undoes a merge.
type Reverted struct {
	Head      string // on top of the merge, so that it is the same however often it is made
	Bundle    string // carries Head: from the base of the work, or from the beginning
	Conflicts []string
	Undone    bool // the branch has nothing of the merge left to undo
}

// Revert commits the state before the merge on top of it. Conflicts are the files that
// were changed on the branch since, in a way that git cannot join with that; then, and if
// nothing is left to undo, there is no commit. Its errors are those of Before.
func (c *Cache) Revert(ctx context.Context, r Reversal) (Reverted, error) {
	repo, before, tip, err := c.merged(ctx, r.Merged)
	if err != nil {
		return Reverted{}, err
	}
	if before == "" {
		return Reverted{}, fmt.Errorf("%w: nothing is before %s", ErrSource, r.Commit)
	}
	if r.Base != "" {
		if err := c.obtain(ctx, repo, r.Bundles, r.Base); err != nil {
			return Reverted{}, err
		}
	}
	held, err := repo.open(ctx)
	if err != nil {
		return Reverted{}, infra(err, "open the cache of %s", r.Repo)
	}
	defer held.Close()
	out, err := c.revert(ctx, repo, r, before, tip)
	if err != nil {
		return Reverted{}, infra(err, "revert %s", r.Commit)
	}
	return out, nil
}

func (c *Cache) revert(ctx context.Context, repo repository, r Reversal, before, tip string) (out Reverted, err error) {
	date, err := repo.git.Run(ctx, "log", "-1", "--format=%cI", r.Commit)
	if err != nil {
		return out, err
	}
	who := c.cfg.Identity
	g := repo.git.WithIdentity(who.Name, who.Email).WithEnv("GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	head, err := g.Run(ctx, "commit-tree", "-p", r.Commit, "-m", r.Message, before+"^{tree}")
	if err != nil {
		return out, err
	}
	merge, err := repo.git.Run(ctx, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", tip, head)
	if err != nil && git.ExitCode(err) != 1 { // 1: there are conflicts
		return out, err
	}
	names := strings.Split(strings.TrimSuffix(merge, "\x00"), "\x00")
	if len(names) > 1 {
		return Reverted{Conflicts: names[1:]}, nil
	}
	now, err := repo.git.Run(ctx, "rev-parse", tip+"^{tree}")
	if err != nil || now == names[0] {
		return Reverted{Undone: err == nil}, err
	}
	if err := repo.keep(ctx, head); err != nil {
		return out, err
	}
	bundle, err := c.put(ctx, repo, r.Base, head)
	return Reverted{Head: head, Bundle: bundle}, err
}

// merged fetches the branch, and returns its commit and that before the merge.
func (c *Cache) merged(ctx context.Context, m Merged) (r repository, before, tip string, err error) {
	if r, err = c.repository(m.Repo); err != nil {
		return r, "", "", infra(err, "look at a merge")
	}
	if m.From, err = m.From.resolved(); err != nil {
		return r, "", "", err
	}
	if !commitID.MatchString(m.Commit) {
		return r, "", "", infra(errors.New("want a full commit id"), "commit %q of %s", m.Commit, m.Repo)
	}
	held, err := r.open(ctx)
	if err != nil {
		return r, "", "", infra(err, "open the cache of %s", m.Repo)
	}
	defer held.Close()
	if tip, err = r.fetch(ctx, m.From.authorize(r.git), m.From.URL, "refs/heads/"+m.Branch, "refs/signalbox/fetched", noTags); err != nil {
		return r, "", "", sourceError(err, m.From.URL, m.Branch)
	}
	if !r.contains(ctx, tip, m.Commit) {
		return r, "", "", fmt.Errorf("%w: %s is at %.7s, without %.7s", ErrNotContained, m.Branch, tip, m.Commit)
	}
	if err := r.keep(ctx, tip); err != nil {
		return r, "", "", infra(err, "look at the merge %s", m.Commit)
	}
	if before, err = r.before(ctx, m); err != nil {
		return r, "", "", infra(err, "look at the merge %s", m.Commit)
	}
	return r, before, tip, nil
}

// before tells rebased commits from a squashed one by their subjects: a forge keeps those
// of the pull request where it rebases.
func (r repository) before(ctx context.Context, m Merged) (string, error) {
	out, err := r.git.Run(ctx, "log", "--first-parent", fmt.Sprintf("-%d", max(1, len(m.Subjects))), "--format=%P%x00%s", m.Commit)
	if err != nil {
		return "", err
	}
	var parents []string // each that of the commit before it
	rebased := true
	lines := slices.Collect(strings.Lines(out))
	for i, line := range lines {
		of, subject, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00")
		first, second, _ := strings.Cut(of, " ")
		parents = append(parents, first)
		rebased = rebased && second == "" && len(lines) == len(m.Subjects) && strings.HasPrefix(subject, m.Subjects[len(m.Subjects)-1-i])
	}
	switch {
	case len(parents) == 0:
		return "", fmt.Errorf("no log of %s", m.Commit)
	case rebased:
		return parents[len(parents)-1], nil
	}
	return parents[0], nil
}
