package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/git"
)

// Delivery is work to be pushed to a forge.
type Delivery struct {
	Repo    string
	Bundles []string // object names, the base's first
	Head    string
	To      Remote
	Branch  string
	// Protected are paths that this push may not change, in addition to those of every push.
	Protected []string
}

// Push moves the branch of a checked change to its commit; Inspect checks it. pushed
// is false if it was there already. If the branch has commits that the change has
// not, Push changes nothing and returns ErrForeign; it never forces or deletes.
// After a failed push it reads the branch, since the push may have succeeded.
// A *Rejection, which is an ErrRejected, has the forge's message. Any other error wraps
// brain.ErrInfrastructure.
func (c *Cache) Push(ctx context.Context, name string, change outbound.Change, to Remote) (pushed bool, err error) {
	if change == (outbound.Change{}) {
		return false, errors.New("push: the change was not checked")
	}
	repo, err := c.repository(name)
	if err != nil {
		return false, infra(err, "push")
	}
	if to, err = to.resolved(); err != nil {
		return false, err
	}
	head, ref := change.Head(), "refs/heads/"+change.Branch()
	held, err := repo.open(ctx)
	if err != nil {
		return false, infra(err, "open the cache of %s", name)
	}
	if err := held.Close(); err != nil {
		return false, infra(err, "push")
	}
	g := to.authorize(repo.git)
	said, err := g.Run(ctx, "push", "--porcelain", "--no-verify", "--", to.URL, head+":"+ref)
	if err == nil {
		return !strings.Contains(said, "[up to date]"), nil
	}
	// The reply may have been lost, or another process may have pushed the same commit.
	there, lost := at(ctx, g, to.URL, ref)
	switch {
	case lost == nil && there == head:
		return true, nil
	case strings.Contains(said, "[remote rejected]"):
		return false, rejection(change.Branch(), said, err)
	case strings.Contains(said, "[rejected]"): // git never pushes past commits that are not in the history
		return false, fmt.Errorf("%w: %s is at %s, which is not in the history of %s", ErrForeign, change.Branch(), there, head)
	case lost != nil:
		return false, sourceError(lost, to.URL, change.Branch())
	}
	return false, infra(err, "push %s", change.Branch())
}

// Rejection is an ErrRejected with the message of the forge. Its text is for people: it has
// neither git's command line nor the address of the forge. Cause, for the log, has both.
type Rejection struct {
	Branch string
	Said   []string // the forge's reason, then the lines that it sent, such as those of a hook
	Cause  error    // the failed run of git
}

func (e *Rejection) Error() string {
	return fmt.Sprintf("%v: %s: %s", ErrRejected, e.Branch, strings.Join(e.Said, "; "))
}

// Unwrap returns ErrRejected and the failed run of git.
func (e *Rejection) Unwrap() []error { return []error{ErrRejected, e.Cause} }

// rejection returns the Rejection of a push. porcelain is the standard output of git, which
// has a line such as "!	SHA:REF	[remote rejected] (REASON)". The forge's own lines are in
// the standard error, after "remote:".
func rejection(branch, porcelain string, cause error) *Rejection {
	r := &Rejection{Branch: branch, Cause: cause}
	for line := range strings.Lines(porcelain) {
		if _, reason, ok := strings.Cut(line, "[remote rejected]"); ok && strings.HasPrefix(line, "!") {
			r.Said = append(r.Said, strings.TrimSpace("remote rejected "+strings.TrimSpace(reason)))
		}
	}
	if failed := new(git.Error); errors.As(cause, &failed) {
		for line := range strings.Lines(failed.Stderr) {
			if says, ok := strings.CutPrefix(line, "remote:"); ok && strings.TrimSpace(says) != "" {
				r.Said = append(r.Said, strings.TrimSpace(says))
			}
		}
	}
	return r
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
