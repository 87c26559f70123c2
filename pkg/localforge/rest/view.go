package rest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// view writes rows as GitHub's JSON.
type view struct {
	host.Links
	git    host.Links
	state  *store.State
	access *store.Access
}

func (c *call) view() view {
	return view{Links: c.Visit.Links(), git: c.Visit.GitLinks(), state: c.State, access: c.Forge.Access}
}

func nodeID(kind string, id int64) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s:%d", kind, id))
}

// moment returns the time, null if there is none.
func moment(t *time.Time) any {
	if t == nil {
		return nil
	}
	return *t
}

// optional returns the text, null if it is empty.
func optional(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// each returns the view of each row, never null.
func each[T any](rows []T, view func(T) object) []object {
	out := make([]object, 0, len(rows))
	for _, row := range rows {
		out = append(out, view(row))
	}
	return out
}

// user returns an account, null if there is none.
func (v view) user(id int64) any {
	a, ok := v.state.Accounts.Get(id)
	if !ok {
		return nil
	}
	return v.account(a)
}

func (v view) account(a store.Account) object {
	api := v.API() + "/users/" + a.Login
	return object{
		"login": a.Login, "id": a.ID, "node_id": nodeID("User", a.ID), "type": a.Type, "site_admin": false,
		"avatar_url": string(v.Links) + "/avatars/" + a.Login, "gravatar_id": "", "url": api, "html_url": string(v.Links) + "/" + a.Login,
		"followers_url": api + "/followers", "following_url": api + "/following{/other_user}",
		"gists_url": api + "/gists{/gist_id}", "starred_url": api + "/starred{/owner}{/repo}",
		"subscriptions_url": api + "/subscriptions", "organizations_url": api + "/orgs", "repos_url": api + "/repos",
		"events_url": api + "/events{/privacy}", "received_events_url": api + "/received_events",
	}
}

// profile returns an account with the fields that only the answer about it alone has.
func (v view) profile(a store.Account) object {
	o := v.account(a)
	for _, field := range []string{"name", "company", "blog", "location", "email", "hireable", "bio"} {
		o[field] = nil
	}
	for _, field := range []string{"public_repos", "public_gists", "followers", "following"} {
		o[field] = 0
	}
	o["created_at"], o["updated_at"], o["user_view_type"] = a.Created, a.Created, "public"
	return o
}

// association returns the relation of the account to the repository.
func (v view) association(r store.Repo, id int64) string {
	a, _ := v.state.Accounts.Get(id)
	switch {
	case strings.EqualFold(a.Login, r.Owner):
		return "OWNER"
	case v.access.Permission(a.Login, r.FullName()) >= store.Triage:
		return "COLLABORATOR"
	}
	return "NONE"
}

func getSelf(c *call) (int, any, error) {
	if c.User.ID == 0 {
		return 0, nil, host.ErrSignIn
	}
	if c.User.Type == "Bot" {
		return 0, nil, errByIntegration
	}
	return http.StatusOK, c.view().profile(c.User), nil
}

// errByIntegration refuses what an App's installation may not ask.
var errByIntegration = &failure{status: http.StatusForbidden, message: "Resource not accessible by integration"}

// getUser answers with the account that the path names.
func getUser(c *call) (int, any, error) {
	a, ok := c.State.Account(c.PathValue("login"))
	if !ok {
		return 0, nil, host.ErrNotFound
	}
	return http.StatusOK, c.view().profile(a), nil
}
