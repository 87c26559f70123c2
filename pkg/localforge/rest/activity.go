package rest

import (
	"net/http"
	"slices"

	"github.com/signalbox/signalbox/pkg/localforge/store"
)

func listActivity(c *call) (int, any, error) {
	q := c.URL.Query()
	rows := c.Repo.Pushes.Where(func(p store.Push) bool {
		return (q.Get("ref") == "" || p.Ref == q.Get("ref") || p.Ref == "refs/heads/"+q.Get("ref")) &&
			(q.Get("activity_type") == "" || p.Kind == q.Get("activity_type"))
	})
	slices.Reverse(rows)
	v := c.view()
	return http.StatusOK, each(page(c, rows), func(p store.Push) object {
		return object{
			"id": p.ID, "node_id": nodeID("Push", p.ID), "before": p.Before, "after": p.After, "ref": p.Ref,
			"timestamp": p.At, "activity_type": p.Kind, "actor": v.user(p.Actor),
		}
	}), nil
}
