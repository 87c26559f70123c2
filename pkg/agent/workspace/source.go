package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// Remote is a repository on a forge, or a directory. Only forge-side services have
// a token for it.
type Remote struct {
	URL   string
	Token string // empty: none is sent
}

func (m Remote) authorize(r git.Runner) git.Runner {
	if m.Token == "" {
		return r
	}
	return r.WithToken(m.URL, m.Token)
}

// resolved makes a directory's path absolute: git runs elsewhere.
func (m Remote) resolved() (Remote, error) {
	if m.URL == "" {
		return m, fmt.Errorf("%w: no URL or directory given", ErrSource)
	}
	if _, err := os.Stat(m.URL); err != nil {
		return m, nil
	}
	dir, err := filepath.Abs(m.URL)
	m.URL = dir
	return m, err
}

// Snapshot fetches a branch and stores its whole history in the object store. An
// empty branch means the remote's HEAD. It returns the commit and the object's
// name. The error is ErrSource if the remote has no such commit, else it wraps
// brain.ErrInfrastructure.
func (c *Cache) Snapshot(ctx context.Context, repo string, from Remote, branch string) (base, object string, err error) {
	r, err := c.repository(repo)
	if err != nil {
		return "", "", infra(err, "snapshot")
	}
	if from, err = from.resolved(); err != nil {
		return "", "", err
	}
	held, err := r.open(ctx)
	if err != nil {
		return "", "", infra(err, "open the cache of %s", repo)
	}
	defer held.Close()
	ref := "HEAD"
	if branch != "" {
		ref = "refs/heads/" + branch
	}
	if base, err = r.fetch(ctx, from.authorize(r.git), from.URL, ref, "refs/signalbox/fetched", followTags); err != nil {
		return "", "", sourceError(err, from.URL, branch)
	}
	if err := c.modules(ctx, r, from, base); err != nil {
		return "", "", infra(err, "snapshot of %s", repo)
	}
	if err = r.keep(ctx, base); err != nil {
		return "", "", infra(err, "snapshot of %s", repo)
	}
	if name := objectName(repo, "", base); c.has(ctx, name) {
		return base, name, nil
	}
	if object, err = c.put(ctx, r, "", base); err != nil {
		return "", "", infra(err, "snapshot of %s", repo)
	}
	return base, object, nil
}

// has reports whether an object is there, as far as that can be known.
func (c *Cache) has(ctx context.Context, name string) bool {
	if p, ok := c.cfg.Objects.(Prober); ok {
		there, err := p.Has(ctx, name)
		return err == nil && there
	}
	there, err := c.cfg.Objects.Get(ctx, name)
	return err == nil && there.Close() == nil
}

// errShallow marks a fetch from a shallow clone. Git reports success and leaves the
// reference out.
var errShallow = errors.New("the history is incomplete: a shallow clone")

// tagging selects the tags that are fetched with a reference.
type tagging bool

const (
	noTags     tagging = false
	followTags tagging = true // those that point into the history
)

// fetch fetches one reference and returns its commit.
func (r repository) fetch(ctx context.Context, g git.Runner, url, ref, into string, tags tagging) (string, error) {
	// The reference of an earlier fetch would hide that this one left it out.
	if !r.absent(into) {
		if _, err := r.git.Run(ctx, "update-ref", "-d", into); err != nil {
			return "", err
		}
	}
	args := []string{"fetch", "--quiet", "--no-write-fetch-head", "--recurse-submodules=no"}
	if !tags {
		args = append(args, "--no-tags")
	}
	_, err := g.Run(ctx, append(args, "--", url, "+"+ref+":"+into)...)
	if err != nil {
		return "", err
	}
	commit, err := r.git.Run(ctx, "rev-parse", "--verify", "--quiet", into+"^{commit}")
	if git.ExitCode(err) == 1 {
		return "", errShallow
	}
	return commit, err
}

// sourceError returns an ErrSource for a source without the commit, and a
// brain.ErrInfrastructure for any other fault.
func sourceError(err error, url, branch string) error {
	if errors.Is(err, errShallow) {
		return fmt.Errorf("%w: %s is a shallow clone: run git fetch --unshallow in it", ErrSource, url)
	}
	var failed *git.Error
	if !errors.As(err, &failed) {
		return infra(err, "fetch %s", url)
	}
	switch says := failed.Stderr; {
	case strings.Contains(says, "does not appear to be a git repository"),
		strings.Contains(says, "not a git repository"),
		strings.Contains(says, "strange pathname"):
		return fmt.Errorf("%w: %s is not a git repository", ErrSource, url)
	case strings.Contains(says, "couldn't find remote ref HEAD"):
		return fmt.Errorf("%w: %s has no commit yet", ErrSource, url)
	case strings.Contains(says, "couldn't find remote ref"):
		return fmt.Errorf("%w: %s has no branch %s", ErrSource, url, branch)
	}
	return infra(err, "fetch %s", url)
}
