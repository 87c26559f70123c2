package local

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

func (v view) status(r repo, s status) object {
	creator, _ := v.state.accounts.get(s.Creator)
	return object{
		"id": s.ID, "node_id": nodeID("StatusContext", s.ID), "state": s.State, "context": s.Context,
		"description": optional(s.Description), "target_url": optional(s.TargetURL), "avatar_url": v.account(creator)["avatar_url"],
		"created_at": s.Created, "updated_at": s.Created, "url": v.repoAPI(r) + "/statuses/" + s.SHA,
	}
}

func (v view) fullStatus(r repo, s status) object {
	o := v.status(r, s)
	o["creator"] = v.user(s.Creator)
	return o
}

// latestStatuses is the newest status of every context on the commit.
func (r repo) latestStatuses(sha string) []status {
	var latest []status
	for _, s := range slices.Backward(r.statusesOf(sha)) {
		if !slices.ContainsFunc(latest, func(l status) bool { return l.Context == s.Context }) {
			latest = append(latest, s)
		}
	}
	slices.Reverse(latest)
	return latest
}

func (r repo) statusesOf(sha string) []status {
	return r.statuses.where(func(s status) bool { return s.SHA == sha })
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
	sha, err := c.f.commit(c.Context(), c.name(), c.PathValue("sha"))
	if err != nil {
		return 0, nil, &failure{status: http.StatusUnprocessableEntity, message: "No commit found for SHA: " + c.PathValue("sha")}
	}
	var made status
	err = c.change(func(t *tx, _ repo) error {
		made = status{
			ID: t.id(), SHA: sha, State: in.State, Context: cmp.Or(in.Context, "default"), Description: in.Description,
			TargetURL: in.TargetURL, Creator: c.user.ID, Created: t.now,
		}
		t.put(entry{Repo: c.name(), Status: &made})
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, c.view().fullStatus(c.repo, made), nil
}

func listStatuses(c *call, sha string) (int, any, error) {
	v, rows := c.view(), c.repo.statusesOf(sha)
	slices.Reverse(rows)
	return http.StatusOK, each(page(c, rows), func(s status) object { return v.fullStatus(c.repo, s) }), nil
}

func getCombinedStatus(c *call, sha string) (int, any, error) {
	v, rows := c.view(), c.repo.latestStatuses(sha)
	var states []string
	for _, s := range rows {
		states = append(states, s.State)
	}
	return http.StatusOK, object{
		"state": cmp.Or(worst(states), "pending"), "sha": sha, "total_count": len(rows), "repository": v.repo(c.repo),
		"statuses":   each(page(c, rows), func(s status) object { return v.status(c.repo, s) }),
		"commit_url": v.repoAPI(c.repo) + "/commits/" + sha, "url": v.repoAPI(c.repo) + "/commits/" + sha + "/status",
	}, nil
}

// worst sums up states and conclusions: failure, pending, success, or empty
// when there are none.
func worst(states []string) string {
	sum := ""
	for _, s := range states {
		switch s {
		case "success", "neutral", "skipped":
			sum = cmp.Or(sum, "success")
		case "pending", "":
			if sum != "failure" {
				sum = "pending"
			}
		default:
			sum = "failure"
		}
	}
	return sum
}

// verdict sums up the commit's statuses and check runs.
func (r repo) verdict(sha string) string {
	var states []string
	for _, s := range r.latestStatuses(sha) {
		states = append(states, s.State)
	}
	for _, k := range r.latestChecks(sha) {
		states = append(states, strings.ToLower(k.Conclusion))
	}
	return worst(states)
}
