package local

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

// edit is what PATCH may change on issues and pull requests; nil is as it was.
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

// mayEdit: the author may, and who can triage.
func (c *call) mayEdit(author int64) error {
	if c.user.ID != author && c.level < triage {
		return errForbidden
	}
	return nil
}

func editIssue(c *call) (int, any, error) {
	var in edit
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	if err := in.check("Issue"); err != nil {
		return 0, nil, err
	}
	var edited issue
	err := c.change(func(t *tx, r repo) (err error) {
		if edited, err = c.edited(t, r, in); err == nil {
			t.put(entry{Repo: c.name(), Issue: &edited})
		}
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, c.view().issue(c.repo, edited), nil
}

// edited is the issue of the path with the edit made, not yet put.
func (c *call) edited(t *tx, r repo, in edit) (issue, error) {
	i, err := c.found(r)
	if err != nil {
		return i, err
	}
	if err := c.mayEdit(i.Author); err != nil {
		return i, err
	}
	i.Title, i.Body, i.Updated = deref(in.Title, i.Title), deref(in.Body, i.Body), t.now
	if in.Labels != nil && c.level >= triage {
		i.Labels = t.label(r, nil, *in.Labels)
	}
	switch state := deref(in.State, i.State); {
	case state == i.State && in.Reason != nil && state == "closed":
		i.Reason = *in.Reason
	case state == "closed" && i.State == "open":
		reason := ""
		if i.Pull == nil {
			reason = cmp.Or(deref(in.Reason, ""), "completed")
		}
		i = i.closed(t, c.user.ID, reason)
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
		return http.StatusNoContent, nil, c.change(func(t *tx, r repo) error {
			i, err := c.found(r)
			if err != nil {
				return err
			}
			i.Locked = locked
			t.touch(c.name(), i)
			return nil
		})
	}
}
