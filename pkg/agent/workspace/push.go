package workspace

import (
	"context"
	"fmt"
	"strings"
)

// Delivery is work to bring to a forge.
type Delivery struct {
	Repo    string
	Bundles []string // object names, the base's first
	Head    string
	To      Remote
	Branch  string
}

// Push brings the work's branch to Head; pushed is false when it was there
// already. A branch that holds anything Head does not is ErrForeign and left
// as it is: nothing is forced and nothing deleted. ErrRejected carries the
// forge's words; any other fault is brain.ErrInfrastructure.
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
	refs, err := g.Run(ctx, "ls-remote", "--refs", "--", d.To.URL, ref)
	if err != nil {
		return false, sourceError(err, d.To.URL, d.Branch)
	}
	for line := range strings.Lines(refs) {
		commit, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		switch {
		case name != ref:
		case commit == d.Head:
			return false, nil
		default:
			// A commit that is not even here is not an ancestor either.
			if _, err := repo.git.Run(ctx, "merge-base", "--is-ancestor", commit, d.Head); err != nil {
				return false, fmt.Errorf("%w: %s is at %s, which is not in the history of %s", ErrForeign, d.Branch, commit, d.Head)
			}
		}
	}
	said, err := g.Run(ctx, "push", "--porcelain", "--no-verify", "--", d.To.URL, d.Head+":"+ref)
	switch {
	case err == nil:
		return true, nil
	case strings.Contains(said, "[remote rejected]"):
		return false, fmt.Errorf("%w: %s: %w", ErrRejected, d.Branch, err)
	case strings.Contains(said, "[rejected]"):
		return false, fmt.Errorf("%w: %s moved meanwhile", ErrForeign, d.Branch)
	}
	return false, infra(err, "push %s", d.Branch)
}
