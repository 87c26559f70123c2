package local

import (
	"context"
	"errors"
	"net/http"

	"github.com/signalbox/signalbox/pkg/git"
)

// updatePull merges the base into the head.
func updatePull(c *call) (int, any, error) {
	var in struct {
		Head *string `json:"expected_head_sha"`
	}
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	refuse := func(message string) (int, any, error) {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: message}
	}
	c.repo.refs.Lock()
	defer c.repo.refs.Unlock()
	if err := c.f.followLocked(c.Context(), c.name(), 0); err != nil {
		return 0, nil, err
	}
	c.refresh()
	i, err := c.found(c.repo)
	if err != nil || i.Pull == nil {
		return 0, nil, errNotFound
	}
	p := i.Pull
	about, err := c.f.comparison(c.Context(), c.name(), p.BaseSHA, p.HeadSHA)
	switch {
	case err != nil:
		return 0, nil, err
	case !i.open():
		return refuse("Pull request is closed")
	case in.Head != nil && *in.Head != p.HeadSHA:
		return refuse("expected head sha didn’t match current head ref.")
	case about.behind == 0:
		return refuse("There are no new commits on the base branch.")
	}
	sha, err := c.mergeBaseIn(i)
	var conflict *failure
	if errors.As(err, &conflict) {
		return refuse("merge conflict between base and head")
	}
	if err != nil {
		return 0, nil, err
	}
	ctx := context.WithoutCancel(c.Context())
	_, err = c.f.git(c.name()).Run(ctx, "update-ref", p.headRef(), sha, p.HeadSHA)
	if git.ExitCode(err) > 0 {
		return refuse("expected head sha didn’t match current head ref.")
	}
	if err == nil {
		err = c.recordMove(push{Ref: p.headRef(), Before: p.HeadSHA, After: sha})
	}
	if err == nil {
		err = c.f.followLocked(ctx, c.name(), c.user.ID)
	}
	if err != nil {
		return 0, nil, err
	}
	return http.StatusAccepted, object{"message": "Updating pull request branch.", "url": c.view().issueURL(c.repo, i)}, nil
}

// mergeBaseIn makes the commit that has both the head and the base.
func (c *call) mergeBaseIn(i issue) (string, error) {
	p := i.Pull
	m := merger{f: c.f, repo: c.repo, pull: i, by: c.user}
	m.git = c.f.git(c.name()).WithEnv("GIT_COMMITTER_DATE="+m.date(), "GIT_AUTHOR_DATE="+m.date())
	tree, conflicts, err := mergeTree(c.Context(), m.git, p.HeadSHA, p.BaseSHA)
	if err != nil {
		return "", err
	}
	if conflicts {
		return "", notMergeable("conflict")
	}
	by := signature{name: c.user.Login, email: c.user.email()}
	return m.commit(c.Context(), by, "Merge branch '"+p.Base+"' into "+p.Head, tree, p.HeadSHA, p.BaseSHA)
}
