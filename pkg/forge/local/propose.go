package local

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
)

func createPull(c *call) (int, any, error) {
	var in struct {
		Title, Body, Head, Base string
		Draft                   bool
	}
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	switch {
	case strings.TrimSpace(in.Title) == "":
		return 0, nil, invalid("PullRequest", "title", "missing_field")
	case in.Head == "":
		return 0, nil, invalid("PullRequest", "head", "missing_field")
	case in.Base == "":
		return 0, nil, invalid("PullRequest", "base", "missing_field")
	}
	if err := cmp.Or(limit("PullRequest", "title", in.Title, maxTitle), limit("PullRequest", "body", in.Body, maxText)); err != nil {
		return 0, nil, err
	}
	if owner, branch, ok := strings.Cut(in.Head, ":"); ok {
		if !strings.EqualFold(owner, c.repo.Owner) {
			return 0, nil, invalid("PullRequest", "head", "invalid") // there are no forks
		}
		in.Head = branch
	}
	p := &pull{Head: in.Head, Base: in.Base, Draft: in.Draft}
	c.repo.refs.Lock()
	defer c.repo.refs.Unlock()
	if err := c.locate(p); err != nil {
		return 0, nil, err
	}
	var made issue
	err := c.change(func(t *tx, r repo) error {
		for _, i := range r.issues {
			if i.open() && i.Pull.Head == p.Head && i.Pull.Base == p.Base {
				return refused("PullRequest", fmt.Sprintf("A pull request already exists for %s:%s.", r.Owner, p.Head))
			}
		}
		made = c.newIssue(t, r, in.Title, in.Body)
		made.Pull = p
		t.put(entry{Repo: c.name(), Issue: &made})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	if err := c.f.followLocked(c.Context(), c.name(), c.user.ID); err != nil {
		return 0, nil, err
	}
	o, err := c.fullPull(made)
	if err != nil {
		return 0, nil, err
	}
	c.header.Set("Location", fmt.Sprint(o["url"]))
	return http.StatusCreated, o, nil
}

// locate finds the commits of the pull request's branches; there must be
// something to merge.
func (c *call) locate(p *pull) error {
	refs, err := c.f.refs(c.Context(), c.name())
	if err != nil {
		return err
	}
	p.HeadSHA, p.BaseSHA = refs[p.headRef()], refs[p.baseRef()]
	if p.HeadSHA == "" {
		return invalid("PullRequest", "head", "invalid")
	}
	if p.BaseSHA == "" {
		return invalid("PullRequest", "base", "invalid")
	}
	about, err := c.f.comparison(c.Context(), c.name(), p.BaseSHA, p.HeadSHA)
	switch {
	case err != nil:
		return err
	case about.mergeBase == "":
		return refused("PullRequest", fmt.Sprintf("The %s branch has no history in common with %s", p.Base, p.Head))
	case about.ahead == 0:
		return refused("PullRequest", fmt.Sprintf("No commits between %s and %s", p.Base, p.Head))
	}
	return nil
}

func editPull(c *call) (int, any, error) {
	var in edit
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	in.Reason, in.Labels = nil, nil
	if err := in.check("PullRequest"); err != nil {
		return 0, nil, err
	}
	if _, err := c.pull(); err != nil {
		return 0, nil, err
	}
	c.repo.refs.Lock()
	defer c.repo.refs.Unlock()
	var edited issue
	err := c.change(func(t *tx, r repo) (err error) {
		if edited, err = c.edited(t, r, in); err != nil {
			return err
		}
		p := *edited.Pull
		p.Base = deref(in.Base, p.Base)
		if edited.open() && (in.Base != nil || in.State != nil) {
			if err := c.locate(&p); err != nil {
				return err
			}
		}
		edited.Pull = &p
		t.put(entry{Repo: c.name(), Issue: &edited})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	o, err := c.fullPull(edited)
	return http.StatusOK, o, err
}
