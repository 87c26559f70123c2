package workspace

import (
	"context"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// Delivery is work to be pushed to a forge.
type Delivery struct {
	Repo    string
	Bundles []string // object names, the base's first
	Head    string
	To      Remote
	Branch  string
}

// Push moves the work's branch to Head. pushed is false if it was there already.
// If the branch has commits that Head has not, Push changes nothing and returns
// ErrForeign; it never forces or deletes. After a failed push it reads the branch,
// since the push may have succeeded. ErrRejected has the forge's message. Any other
// error wraps brain.ErrInfrastructure.
func (c *Cache) Push(ctx context.Context, d Delivery) (pushed bool, err error) {
	repo, err := c.repository(d.Repo)
	if err != nil {
		return false, infra(err, "push")
	}
	ref := "refs/heads/" + d.Branch
	if _, err := repo.git.In("").Run(ctx, "check-ref-format", ref); err != nil {
		return false, fmt.Errorf("push: %q is no name for a branch", d.Branch)
	}
	if d.To, err = d.To.resolved(); err != nil {
		return false, err
	}
	if err := c.obtain(ctx, repo, d.Bundles, d.Head); err != nil {
		return false, err
	}
	g := d.To.authorize(repo.git)
	there, err := at(ctx, g, d.To.URL, ref)
	switch {
	case err != nil:
		return false, sourceError(err, d.To.URL, d.Branch)
	case there == d.Head:
		return false, nil
	case there != "":
		// A commit that is not cached is not an ancestor.
		if _, err := repo.git.Run(ctx, "merge-base", "--is-ancestor", there, d.Head); err != nil {
			return false, fmt.Errorf("%w: %s is at %s, which is not in the history of %s", ErrForeign, d.Branch, there, d.Head)
		}
	}
	said, err := g.Run(ctx, "push", "--porcelain", "--no-verify", "--", d.To.URL, d.Head+":"+ref)
	if err == nil {
		return true, nil
	}
	// The reply may have been lost, or another process may have pushed the same commit.
	if there, lost := at(ctx, g, d.To.URL, ref); lost == nil && there == d.Head {
		return true, nil
	}
	switch {
	case strings.Contains(said, "[remote rejected]"):
		return false, fmt.Errorf("%w: %s: %w", ErrRejected, d.Branch, err)
	case strings.Contains(said, "[rejected]"):
		return false, fmt.Errorf("%w: %s moved meanwhile", ErrForeign, d.Branch)
	}
	return false, infra(err, "push %s", d.Branch)
}

// at returns the commit of a remote's reference, or "" if there is none.
func at(ctx context.Context, g git.Runner, url, ref string) (string, error) {
	refs, err := g.Run(ctx, "ls-remote", "--refs", "--", url, ref)
	for line := range strings.Lines(refs) {
		if commit, name, _ := strings.Cut(strings.TrimSpace(line), "\t"); name == ref {
			return commit, err
		}
	}
	return "", err
}
