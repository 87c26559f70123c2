package rest

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// asApp refuses requests that an App has not signed with its key.
func asApp(h handler) handler {
	return func(c *call) (int, any, error) {
		if c.Caller.App == nil {
			return 0, nil, &failure{status: http.StatusUnauthorized, message: "A JSON web token could not be decoded"}
		}
		return h(c)
	}
}

// appID returns the number of the App whose bot the account is.
func (v view) appID(a store.Account) int64 {
	for _, app := range v.access.Apps() {
		if app.Login() == a.Login {
			return app.ID
		}
	}
	return a.ID
}

// permissionsOf returns what the App may do.
func permissionsOf(app *store.App) object {
	may, permission := "write", app.Permission
	if app.Permissions != nil {
		o := object{}
		for name, level := range app.Permissions {
			o[name] = level
		}
		return o
	}
	if permission == "read" || permission == "triage" {
		may = "read"
	}
	return object{"metadata": "read", "contents": may, "issues": may, "pull_requests": may, "checks": may, "statuses": may}
}

func getApp(c *call) (int, any, error) {
	o := c.view().integration(c.Caller.App)
	o["installations_count"] = len(c.Caller.App.Installations)
	return http.StatusOK, o, nil
}

// integration returns the App as itself and its owner see it.
func (v view) integration(app *store.App) object {
	a, _ := v.state.Account(app.Login())
	o := v.app(a.ID).(object)
	o["id"], o["name"], o["permissions"], o["events"] = app.ID, cmp.Or(app.Name, app.Slug), permissionsOf(app), eventsOf(app)
	o["html_url"] = string(v.Links) + "/apps/" + app.Slug
	if owner, ok := v.state.Account(app.Owner); ok {
		o["owner"] = v.account(owner)
	}
	if app.ClientID != "" {
		o["client_id"] = app.ClientID
	}
	return o
}

// eventsOf returns the events that the App subscribes to, never null.
func eventsOf(app *store.App) []string { return append([]string{}, app.Events...) }

// convertManifest answers with the App of the code, and with its secrets for the only time.
func convertManifest(c *call) (int, any, error) {
	app, key, err := c.Forge.ConvertManifest(c.PathValue("code"))
	if err != nil {
		return 0, nil, err
	}
	c.Refresh()
	o := c.view().integration(&app)
	o["pem"], o["webhook_secret"], o["client_secret"] = key, app.Hook.Secret, strings.ToLower(rand.Text() + rand.Text())[:40]
	return http.StatusCreated, o, nil
}

func (v view) installation(app *store.App, i store.Installation) object {
	owner, _ := v.state.Account(i.Owner)
	bot, _ := v.state.Account(app.Login())
	o := object{
		"id": i.ID, "app_id": app.ID, "app_slug": app.Slug, "account": v.account(owner), "target_id": owner.ID, "target_type": owner.Type,
		"repository_selection": selection(i), "permissions": permissionsOf(app), "events": eventsOf(app), "single_file_name": nil,
		"access_tokens_url": fmt.Sprintf("%s/app/installations/%d/access_tokens", v.API(), i.ID),
		"repositories_url":  v.API() + "/installation/repositories",
		"html_url":          fmt.Sprintf("%s/settings/installations/%d", string(v.Links), i.ID),
		"created_at":        bot.Created, "updated_at": bot.Created, "suspended_by": nil, "suspended_at": nil,
	}
	if i.Suspended {
		o["suspended_by"], o["suspended_at"] = v.account(owner), bot.Created
	}
	return o
}

func selection(i store.Installation) string {
	if i.Repos != nil {
		return "selected"
	}
	return "all"
}

func listInstallations(c *call) (int, any, error) {
	v := c.view()
	rows := each(page(c, c.Caller.App.Installations), func(i store.Installation) object { return v.installation(c.Caller.App, i) })
	return http.StatusOK, rows, nil
}

func getInstallation(c *call) (int, any, error) {
	for _, i := range c.Caller.App.Installations {
		if i.ID == c.PathID("id") {
			return http.StatusOK, c.view().installation(c.Caller.App, i), nil
		}
	}
	return 0, nil, host.ErrNotFound
}

// findInstallation answers with the installation on the owner, or on the repository.
func findInstallation(c *call) (int, any, error) {
	i, ok := c.Caller.App.InstalledOn(c.PathValue("owner"))
	if repo := c.PathValue("repo"); repo != "" && ok {
		var r store.Repo
		r, ok = c.State.Repo(c.PathValue("owner") + "/" + repo)
		ok = ok && i.Has(r.FullName())
	}
	if !ok {
		return 0, nil, host.ErrNotFound
	}
	return http.StatusOK, c.view().installation(c.Caller.App, i), nil
}

func createToken(c *call) (int, any, error) {
	token, until, err := c.Forge.Access.IssueToken(c.Caller.App, c.PathID("id"), c.Forge.Store.Now())
	switch {
	case errors.Is(err, store.ErrSuspended):
		return 0, nil, &failure{status: http.StatusForbidden, message: "This installation has been suspended"}
	case errors.Is(err, store.ErrNoInstallation):
		return 0, nil, host.ErrNotFound
	case err != nil:
		return 0, nil, err
	}
	return http.StatusCreated, object{
		"token": token, "expires_at": until, "permissions": permissionsOf(c.Caller.App), "repository_selection": "all",
	}, nil
}

// listInstalled answers with the repositories of the installation that the token is of.
func listInstalled(c *call) (int, any, error) {
	if c.Caller.Installation == nil {
		return 0, nil, &failure{status: http.StatusForbidden, message: "You must authenticate with an installation access token in order to " +
			"list repositories for an installation."}
	}
	rows := slices.DeleteFunc(c.State.Repos(), func(r store.Repo) bool { return !c.Caller.Installation.Has(r.FullName()) })
	slices.SortFunc(rows, func(a, b store.Repo) int { return strings.Compare(a.FullName(), b.FullName()) })
	v := c.view()
	return http.StatusOK, object{"total_count": len(rows), "repositories": each(page(c, rows), v.repo)}, nil
}
