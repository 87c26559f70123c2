package workspace

import (
	"context"
	"strings"
)

// Entry is one commit of the work.
type Entry struct{ Commit, Subject string }

// Log returns the commits between the spec's base and head, oldest first, and their
// change as git diff --stat prints it. Its errors wrap brain.ErrInfrastructure.
func (c *Cache) Log(ctx context.Context, s Spec) (entries []Entry, stat string, err error) {
	repo, err := c.repository(s.Repo)
	if err != nil {
		return nil, "", infra(err, "log")
	}
	if err := c.obtain(ctx, repo, s.Bundles, s.Base, s.Head); err != nil {
		return nil, "", err
	}
	text, err := repo.git.Run(ctx, "log", "--reverse", "--format=%H %s", s.Base+".."+s.Head)
	if err != nil {
		return nil, "", infra(err, "log")
	}
	for line := range strings.Lines(text) {
		commit, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		entries = append(entries, Entry{commit, subject})
	}
	if stat, err = repo.git.Run(ctx, "diff", "--stat", "--no-ext-diff", s.Base, s.Head); err != nil {
		return nil, "", infra(err, "log")
	}
	return entries, stat, nil
}
