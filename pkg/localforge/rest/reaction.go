package rest

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// reactions are the contents that GitHub has.
var reactions = [...]string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

func (v view) reaction(m store.Mark) object {
	return object{"id": m.ID, "node_id": nodeID("Reaction", m.ID), "user": v.user(m.By), "content": m.Content, "created_at": m.At}
}

// reactions counts the reactions to a comment.
func (v view) reactions(r store.Repo, m store.Comment) object {
	all := r.MarksOn(m.ID)
	o := object{"url": fmt.Sprintf("%s/issues/comments/%d/reactions", v.RepoAPI(r), m.ID), "total_count": len(all)}
	for _, content := range reactions {
		o[content] = 0
	}
	for _, mark := range all {
		o[mark.Content] = o[mark.Content].(int) + 1
	}
	return o
}

func listReactions(c *call) (int, any, error) {
	m, err := c.commentOf(c.Repo)
	if err != nil {
		return 0, nil, err
	}
	content := c.URL.Query().Get("content")
	rows := slices.DeleteFunc(c.Repo.MarksOn(m.ID), func(m store.Mark) bool { return content != "" && m.Content != content })
	return http.StatusOK, each(page(c, rows), c.view().reaction), nil
}

// createReaction adds a reaction. One that the account has made already is answered with 200.
func createReaction(c *call) (int, any, error) {
	var in struct{ Content string }
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	if !slices.Contains(reactions[:], in.Content) {
		return 0, nil, invalid("Reaction", "content", "invalid")
	}
	status, made := http.StatusOK, store.Mark{}
	err := c.Change(func(t *store.Tx, r store.Repo) error {
		m, err := c.commentOf(r)
		if err != nil {
			return err
		}
		if i, _ := r.Issues.Get(m.Issue); i.Locked && c.Level < store.Write {
			return &failure{status: http.StatusForbidden, message: "Unable to create reaction because issue is locked."}
		}
		for _, there := range r.MarksOn(m.ID) {
			if there.By == c.User.ID && there.Content == in.Content {
				made = there
				return nil
			}
		}
		status = http.StatusCreated
		made = store.Mark{ID: t.ID(), Comment: m.ID, Content: in.Content, By: c.User.ID, At: t.Now}
		t.Put(store.Entry{Repo: c.Name(), Mark: &made})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return status, c.view().reaction(made), nil
}

func deleteReaction(c *call) (int, any, error) {
	err := c.Change(func(t *store.Tx, r store.Repo) error {
		m, err := c.commentOf(r)
		if err != nil {
			return err
		}
		mark, ok := r.Marks.Get(c.PathID("reaction"))
		switch {
		case !ok || mark.Deleted || mark.Comment != m.ID:
			return host.ErrNotFound
		case mark.By != c.User.ID && c.Level < store.Admin:
			return host.ErrForbidden
		}
		mark.Deleted = true
		t.Put(store.Entry{Repo: c.Name(), Mark: &mark})
		return nil
	})
	return http.StatusNoContent, nil, err
}
