package rest

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/signalbox/signalbox/pkg/localforge/rules"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

func (v view) status(r store.Repo, s store.Status) object {
	creator, _ := v.state.Accounts.Get(s.Creator)
	return object{
		"id": s.ID, "node_id": nodeID("StatusContext", s.ID), "state": s.State, "context": s.Context,
		"description": optional(s.Description), "target_url": optional(s.TargetURL), "avatar_url": v.account(creator)["avatar_url"],
		"created_at": s.Created, "updated_at": s.Created, "url": v.RepoAPI(r) + "/statuses/" + s.SHA,
	}
}

func (v view) fullStatus(r store.Repo, s store.Status) object {
	o := v.status(r, s)
	o["creator"] = v.user(s.Creator)
	return o
}

func createStatus(c *call) (int, any, error) {
	var in struct {
		State, Context, Description string
		TargetURL                   string `json:"target_url"`
	}
	if err := c.decode(&in); err != nil {
		return 0, nil, err
	}
	if !slices.Contains([]string{"error", "failure", "pending", "success"}, in.State) {
		return 0, nil, invalid("Status", "state", "invalid")
	}
	if err := cmp.Or(limit("Status", "description", in.Description, 140), limit("Status", "context", in.Context, 255)); err != nil {
		return 0, nil, err
	}
	sha, err := c.Git().Resolve(c.Context(), c.PathValue("sha"))
	if err != nil {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "No commit found for SHA: " + c.PathValue("sha")}
	}
	var made store.Status
	err = c.Change(func(t *store.Tx, _ store.Repo) error {
		made = store.Status{
			ID: t.ID(), SHA: sha, State: in.State, Context: cmp.Or(in.Context, "default"), Description: in.Description,
			TargetURL: in.TargetURL, Creator: c.User.ID, Created: t.Now,
		}
		t.Put(store.Entry{Repo: c.Name(), Status: &made})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, c.view().fullStatus(c.Repo, made), c.advanceQueues()
}

func getCombinedStatus(c *call, sha string) (int, any, error) {
	v, rows := c.view(), c.Repo.LatestStatuses(sha)
	var states []string
	for _, s := range rows {
		states = append(states, s.State)
	}
	return http.StatusOK, object{
		"state": cmp.Or(rules.Worst(states), "pending"), "sha": sha, "total_count": len(rows), "repository": v.repo(c.Repo),
		"statuses":   each(page(c, rows), func(s store.Status) object { return v.status(c.Repo, s) }),
		"commit_url": v.RepoAPI(c.Repo) + "/commits/" + sha, "url": v.RepoAPI(c.Repo) + "/commits/" + sha + "/status",
	}, nil
}
