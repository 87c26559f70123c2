package rest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// edit is a change of an issue or a pull request. A nil field stays as it was.
type edit struct {
	Title  *string
	Body   *string
	State  *string
	Reason *string `json:"state_reason"`
	Labels *[]string
	Base   *string // of pull requests
}

func (e edit) check(resource string) error {
	title, body := deref(e.Title, "x"), deref(e.Body, "")
	if strings.TrimSpace(title) == "" {
		return invalid(resource, "title", "missing_field")
	}
	if state := deref(e.State, "open"); state != "open" && state != "closed" {
		return invalid(resource, "state", "invalid")
	}
	if reason := deref(e.Reason, ""); !slices.Contains([]string{"", "completed", "not_planned", "duplicate", "reopened"}, reason) {
		return invalid(resource, "state_reason", "invalid")
	}
	return cmp.Or(limit(resource, "title", title, maxTitle), limit(resource, "body", body, maxText))
}

func deref[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}

// mayEdit refuses users other than the author and those who can triage.
func (c *call) mayEdit(author int64) error {
	if c.User.ID != author && c.Level < store.Triage {
		return host.ErrForbidden
	}
	return nil
}

func editIssue(c *call) (int, any, error) {
	var in edit
	if err := c.decodeDone(&in, undone{resource: "Issue", keys: undoneOfIssue}); err != nil {
		return 0, nil, err
	}
	if err := in.check("Issue"); err != nil {
		return 0, nil, err
	}
	var edited store.Issue
	err := c.Change(func(t *store.Tx, r store.Repo) (err error) {
		if edited, err = c.edited(t, r, in); err == nil {
			t.Put(store.Entry{Repo: c.Name(), Issue: &edited})
		}
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().issue(c.Repo, edited), nil
}

// edited returns the issue that the path names, with the edit. It puts nothing.
func (c *call) edited(t *store.Tx, r store.Repo, in edit) (store.Issue, error) {
	i, err := c.Issue(r)
	if err != nil {
		return i, err
	}
	if err := c.mayEdit(i.Author); err != nil {
		return i, err
	}
	if deref(in.Body, i.Body) != i.Body {
		i.Edit = &store.Edit{By: c.User.ID, At: t.Now}
	}
	if deref(in.Title, i.Title) != i.Title {
		i.Renamed = &store.Edit{By: c.User.ID, At: t.Now}
	}
	i.Title, i.Body, i.Updated = deref(in.Title, i.Title), deref(in.Body, i.Body), t.Now
	if in.Labels != nil && c.Level >= store.Triage {
		i = i.Label(addNames(t, r, nil, *in.Labels), c.User.ID, t.Now)
	}
	switch state := deref(in.State, i.State); {
	case state == i.State && in.Reason != nil && state == "closed":
		i.Reason = *in.Reason
	case state == "closed" && i.State == "open":
		reason := ""
		if i.Pull == nil {
			reason = cmp.Or(deref(in.Reason, ""), "completed")
		}
		i = t.Closed(i, c.User.ID, reason)
	case state == "open" && i.State == "closed":
		if i.Pull != nil && i.Pull.Merged != nil {
			return i, refused("PullRequest", "state cannot be changed. The pull request is merged.")
		}
		i.State, i.Closed, i.ClosedBy, i.Reason = "open", nil, 0, ""
		if i.Pull == nil {
			i.Reason = "reopened"
		}
	}
	return i, nil
}

func lockIssue(locked bool) handler {
	return func(c *call) (int, any, error) {
		return http.StatusNoContent, nil, c.Change(func(t *store.Tx, r store.Repo) error {
			i, err := c.Issue(r)
			if err != nil {
				return err
			}
			i.Locked = locked
			t.Touch(c.Name(), i)
			return nil
		})
	}
}
