package local

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// view writes rows as GitHub's JSON.
type view struct {
	url   string // of the forge
	state *state
	f     *Forge
}

func (c *call) view() view { return view{url: c.f.baseURL(c.Request), state: c.state, f: c.f} }

// api is the URL REST paths are below.
func (c *call) api() string { return c.view().api() }

func (v view) api() string { return v.url + "/api/v3" }

func (v view) repoAPI(r repo) string { return v.api() + "/repos/" + r.fullName() }

func (v view) repoURL(r repo) string { return v.url + "/" + r.fullName() }

func (f *Forge) baseURL(r *http.Request) string {
	return cmp.Or(*f.url.Load(), "http://"+r.Host)
}

func nodeID(kind string, id int64) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s:%d", kind, id))
}

// moment is a time that may be absent.
func moment(t *time.Time) any {
	if t == nil {
		return nil
	}
	return *t
}

// optional is null for an empty text.
func optional(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// each is the rows' views; never null.
func each[T any](rows []T, view func(T) object) []object {
	out := make([]object, 0, len(rows))
	for _, row := range rows {
		out = append(out, view(row))
	}
	return out
}

// user is an account, null for none.
func (v view) user(id int64) any {
	a, ok := v.state.accounts.get(id)
	if !ok {
		return nil
	}
	return v.account(a)
}

func (v view) account(a account) object {
	api := v.api() + "/users/" + a.Login
	return object{
		"login": a.Login, "id": a.ID, "node_id": nodeID("User", a.ID), "type": a.Type, "site_admin": false,
		"avatar_url": v.url + "/avatars/" + a.Login, "gravatar_id": "", "url": api, "html_url": v.url + "/" + a.Login,
		"followers_url": api + "/followers", "following_url": api + "/following{/other_user}",
		"gists_url": api + "/gists{/gist_id}", "starred_url": api + "/starred{/owner}{/repo}",
		"subscriptions_url": api + "/subscriptions", "organizations_url": api + "/orgs", "repos_url": api + "/repos",
		"events_url": api + "/events{/privacy}", "received_events_url": api + "/received_events",
	}
}

// profile is an account with what only its own page shows.
func (v view) profile(a account) object {
	o := v.account(a)
	for _, field := range []string{"name", "company", "blog", "location", "email", "hireable", "bio"} {
		o[field] = nil
	}
	for _, field := range []string{"public_repos", "public_gists", "followers", "following"} {
		o[field] = 0
	}
	o["created_at"], o["updated_at"] = a.Created, a.Created
	return o
}

// association is what the account is to the repository.
func (v view) association(r repo, id int64) string {
	a, _ := v.state.accounts.get(id)
	switch {
	case strings.EqualFold(a.Login, r.Owner):
		return "OWNER"
	case v.f.permission(a.Login, r.fullName()) >= triage:
		return "COLLABORATOR"
	}
	return "NONE"
}

func getSelf(c *call) (int, any, error) {
	if c.user.ID == 0 {
		return 0, nil, errSignIn
	}
	return http.StatusOK, c.view().profile(c.user), nil
}

func getUser(c *call) (int, any, error) {
	a, ok := c.state.account(c.PathValue("login"))
	if !ok {
		return 0, nil, errNotFound
	}
	return http.StatusOK, c.view().profile(a), nil
}
