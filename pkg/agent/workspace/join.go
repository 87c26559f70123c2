package workspace

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/git"
)

// Meeting is a request to merge work with a branch on a forge.
type Meeting struct {
	Repo    string
	Bundles []string // object names, the base's first
	Base    string   // commit the work started from
	Head    string   // commit the work is at
	From    Remote
	Branch  string
	// Published is the commit that the work last moved the branch to; empty: it never did.
	Published string
	Message   string // of a merge, if there has to be one
}

// Joined is the result of a Meeting.
type Joined struct {
	Theirs    string   // where the branch is
	Head      string   // holds the work and the branch
	Bundle    string   // carries Head; empty when the work's own bundles do
	Conflicts []string // files that hold both sides between git's marks
	Rewritten bool     // the branch lost the published commit: Head is the branch
}

// MergeBranch fetches the branch and merges it with the work. If one contains the other,
// it is the result. A conflict is not an error: the merge then has git's marks of
// both sides. A branch without the published commit was rewritten, and is the result as
// it is: what was removed from it does not come back. Nothing is pushed. The error is ErrSource if there is no such branch,
// else it wraps brain.ErrInfrastructure.
func (c *Cache) MergeBranch(ctx context.Context, m Meeting) (Joined, error) {
	r, err := c.repository(m.Repo)
	if err != nil {
		return Joined{}, infra(err, "join")
	}
	if m.From, err = m.From.resolved(); err != nil {
		return Joined{}, err
	}
	if err := c.obtain(ctx, r, m.Bundles, m.Base, m.Head); err != nil {
		return Joined{}, err
	}
	held, err := r.open(ctx)
	if err != nil {
		return Joined{}, infra(err, "open the cache of %s", m.Repo)
	}
	defer held.Close()
	j := Joined{Head: m.Head}
	if j.Theirs, err = r.fetch(ctx, m.From.authorize(r.git), m.From.URL, "refs/heads/"+m.Branch, "refs/signalbox/fetched", noTags); err != nil {
		return Joined{}, sourceError(err, m.From.URL, m.Branch)
	}
	j.Rewritten = m.Published != "" && !r.contains(ctx, j.Theirs, m.Published)
	switch {
	case j.Rewritten:
		j.Head = j.Theirs
	case r.contains(ctx, m.Head, j.Theirs):
		return j, nil
	case r.contains(ctx, j.Theirs, m.Head):
		j.Head = j.Theirs
	default:
		if err := c.merge(ctx, r, m, &j); err != nil {
			return Joined{}, infra(err, "join %s with %s", m.Head, j.Theirs)
		}
	}
	if err := r.keep(ctx, j.Head); err != nil {
		return Joined{}, infra(err, "join")
	}
	if r.contains(ctx, m.Base, j.Head) {
		return j, nil // the base's own bundle carries it
	}
	if j.Bundle, err = c.put(ctx, r, m.Base, j.Head); err != nil {
		return Joined{}, infra(err, "bundle %s", j.Head)
	}
	return j, nil
}

// Shares reports whether the branch has a commit of the work, one between its base and its
// head. One that has none is another work's, whoever pushed it. Its errors are those of
// MergeBranch.
func (c *Cache) Shares(ctx context.Context, m Meeting) (bool, error) {
	r, err := c.repository(m.Repo)
	if err != nil {
		return false, infra(err, "compare")
	}
	if m.From, err = m.From.resolved(); err != nil {
		return false, err
	}
	if err := c.obtain(ctx, r, m.Bundles, m.Base, m.Head); err != nil {
		return false, err
	}
	held, err := r.open(ctx)
	if err != nil {
		return false, infra(err, "open the cache of %s", m.Repo)
	}
	defer held.Close()
	theirs, err := r.fetch(ctx, m.From.authorize(r.git), m.From.URL, "refs/heads/"+m.Branch, "refs/signalbox/fetched", noTags)
	if err != nil {
		return false, sourceError(err, m.From.URL, m.Branch)
	}
	all, err := r.git.Run(ctx, "rev-list", "--count", m.Head, "^"+m.Base)
	if err != nil {
		return false, infra(err, "compare %s with %s", m.Head, theirs)
	}
	own, err := r.git.Run(ctx, "rev-list", "--count", m.Head, "^"+m.Base, "^"+theirs)
	if err != nil {
		return false, infra(err, "compare %s with %s", m.Head, theirs)
	}
	return all != own, nil
}

// contains reports whether the commit descends from the other one or is it.
func (r repository) contains(ctx context.Context, commit, other string) bool {
	_, err := r.git.Run(ctx, "merge-base", "--is-ancestor", other, commit)
	return err == nil
}

// merge commits the merge of the work and the branch, without a work tree.
func (c *Cache) merge(ctx context.Context, r repository, m Meeting, j *Joined) error {
	out, err := r.git.Run(ctx, "merge-tree", "--write-tree", "--name-only", "--no-messages", "--allow-unrelated-histories", "-z", m.Head,
		j.Theirs)
	if err != nil && git.ExitCode(err) != 1 { // 1: there are conflicts
		return err
	}
	names := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	if len(names) > 1 {
		j.Conflicts = names[1:]
	}
	who, date := c.cfg.Identity, c.cfg.Now().Format(time.RFC3339)
	g := r.git.WithIdentity(who.Name, who.Email).WithEnv("GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	j.Head, err = g.Run(ctx, "commit-tree", "-p", m.Head, "-p", j.Theirs, "-m", m.Message, names[0])
	return err
}

// Unresolved returns FILE:LINE of each mark of a conflict that the work between the
// spec's base and head leaves. Its errors wrap brain.ErrInfrastructure.
func (c *Cache) Unresolved(ctx context.Context, s Spec) ([]string, error) {
	repo, err := c.repository(s.Repo)
	if err != nil {
		return nil, infra(err, "look for conflicts")
	}
	if err := c.obtain(ctx, repo, s.Bundles, s.Base, s.Head); err != nil {
		return nil, err
	}
	out, err := repo.git.Run(ctx, "diff", "--check", "--no-ext-diff", s.Base, s.Head)
	if err != nil && git.ExitCode(err) != 2 { // 2: marks were found
		return nil, infra(err, "look for conflicts in %s", s.Head)
	}
	marked := map[string]bool{} // by a line that only looks like a mark too: ======= may be under a heading
	for line := range strings.Lines(out) {
		if at, is := strings.CutSuffix(strings.TrimRight(line, "\n"), ": leftover conflict marker"); is {
			marked[at] = true
		}
	}
	if out, err = repo.git.Run(ctx, "grep", "-n", "-I", "-e", "^<<<<<<< ", s.Head); err != nil && git.ExitCode(err) != 1 { // nothing found
		return nil, infra(err, "look for conflicts in %s", s.Head)
	}
	var found []string
	for line := range strings.Lines(out) {
		at, _, _ := strings.Cut(strings.TrimPrefix(line, s.Head+":"), ":<<<<<<< ")
		if marked[at] {
			found = append(found, at)
		}
	}
	return found, nil
}

// String describes the result in a line.
func (j Joined) String() string {
	if j.Rewritten {
		return fmt.Sprintf("the branch was rewritten and is at %.7s", j.Theirs)
	}
	if len(j.Conflicts) == 0 {
		return fmt.Sprintf("%.7s holds %.7s", j.Head, j.Theirs)
	}
	return fmt.Sprintf("%.7s conflicts with %.7s in %s", j.Head, j.Theirs, strings.Join(j.Conflicts, ", "))
}
