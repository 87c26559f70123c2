package rest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/forge/local/host"
	"github.com/signalbox/signalbox/pkg/forge/local/store"
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

// permissionsOf returns what an App with the permission may do.
func permissionsOf(permission string) object {
	may := "write"
	if permission == "read" || permission == "triage" {
		may = "read"
	}
	return object{"metadata": "read", "contents": may, "issues": may, "pull_requests": may, "checks": may, "statuses": may}
}

func getApp(c *call) (int, any, error) {
	app := c.Caller.App
	a, _ := c.State.Account(app.Login())
	o := c.view().app(a.ID).(object)
	o["permissions"], o["installations_count"] = permissionsOf(app.Permission), len(app.Installations)
	return http.StatusOK, o, nil
}

func (v view) installation(app *store.App, i store.Installation) object {
	owner, _ := v.state.Account(i.Owner)
	bot, _ := v.state.Account(app.Login())
	o := object{
		"id": i.ID, "app_id": app.ID, "app_slug": app.Slug, "account": v.account(owner), "target_id": owner.ID, "target_type": owner.Type,
		"repository_selection": "all", "permissions": permissionsOf(app.Permission), "events": []string{}, "single_file_name": nil,
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
	if repo := c.PathValue("repo"); repo != "" {
		if _, ok := c.State.Repo(c.PathValue("owner") + "/" + repo); !ok {
			return 0, nil, host.ErrNotFound
		}
	}
	i, ok := c.Caller.App.InstalledOn(c.PathValue("owner"))
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
		"token": token, "expires_at": until, "permissions": permissionsOf(c.Caller.App.Permission), "repository_selection": "all",
	}, nil
}

// listInstalled answers with the repositories of the installation that the token is of.
func listInstalled(c *call) (int, any, error) {
	if c.Caller.Installation == nil {
		return 0, nil, &failure{status: http.StatusForbidden, message: "You must authenticate with an installation access token in order to " +
			"list repositories for an installation."}
	}
	rows := slices.DeleteFunc(c.State.Repos(), func(r store.Repo) bool { return !strings.EqualFold(r.Owner, c.Caller.Installation.Owner) })
	slices.SortFunc(rows, func(a, b store.Repo) int { return strings.Compare(a.FullName(), b.FullName()) })
	v := c.view()
	return http.StatusOK, object{"total_count": len(rows), "repositories": each(page(c, rows), v.repo)}, nil
}
