package web

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge/host"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

//go:embed app.html
var appSource string

// appPage is the data of app.html. It leaves out what is empty.
type appPage struct {
	Title, Text string
	Permissions []link // the URL is the access
	Hook        string

	Action, Button               string // of the form; an empty action is no form
	Manifest, State, Owner, Name string
	Owners                       []string
	Links                        []link

	redirect string // in place of a page
}

// forms returns the patterns of the forms that pages of other origins post to, as
// http.ServeMux has them. They change nothing.
func forms() []string {
	return []string{"/settings/apps/new", "/organizations/{organisation}/settings/apps/new"}
}

// addApps adds the pages where people make and install Apps.
func (s site) addApps(mux *http.ServeMux) {
	page := template.Must(template.New("app").Parse(appSource))
	same := http.NewCrossOriginProtection()
	handle := func(read func(*host.Visit) (appPage, error)) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.showApp(w, r, page, read) })
	}
	for _, form := range forms() {
		mux.Handle("POST "+form, handle(askForApp))
	}
	mux.Handle("POST /settings/apps", same.Handler(handle(createApp)))
	mux.Handle("GET /apps/{slug}", handle(readApp))
	mux.Handle("GET /apps/{slug}/installations/new", handle(askForInstallation))
	mux.Handle("POST /apps/{slug}/installations/new", same.Handler(handle(install)))
}

// maxForm is how many bytes a form may have.
const maxForm = 1 << 20

// showApp answers a person who is signed in with a page.
func (s site) showApp(w http.ResponseWriter, r *http.Request, page *template.Template, read func(*host.Visit) (appPage, error)) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	v, err := s.forge.Visit(r)
	switch {
	case err != nil:
	case v.User.ID == 0:
		err = host.ErrSignIn
	case v.User.Type != "User":
		err = host.ErrForbidden
	}
	var p appPage
	if err == nil {
		p, err = read(v)
	}
	status := http.StatusOK
	if errors.Is(err, host.ErrManifest) {
		p, status, err = appPage{Title: "The App cannot be made", Text: err.Error()}, http.StatusUnprocessableEntity, nil
	}
	var out bytes.Buffer
	if err == nil && p.redirect == "" {
		err = page.Execute(&out, p)
	}
	if err != nil {
		s.refuse(w, v, err)
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'")
	if p.redirect != "" {
		http.Redirect(w, r, p.redirect, http.StatusSeeOther)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // a reader that has gone needs no answer
}

// askForApp shows what the manifest asks for.
func askForApp(v *host.Visit) (appPage, error) {
	text := v.PostFormValue("manifest")
	m, err := host.ReadManifest(text)
	if err != nil {
		return appPage{}, err
	}
	owner := v.PathValue("organisation")
	if owner == "" {
		owner = v.User.Login
	}
	if !owns(v, owner) {
		return appPage{}, host.ErrForbidden
	}
	redirect, err := url.Parse(m.Redirect)
	if err != nil {
		return appPage{}, err
	}
	p := appPage{
		Title: "Create a GitHub App for " + owner, Text: "Its key goes to " + redirect.Host + ".", Permissions: permissions(m.Permissions),
		Action: "/settings/apps", Button: "Create", Manifest: text, State: v.URL.Query().Get("state"), Owner: owner, Name: m.Name,
	}
	if m.Hook.Active == nil || *m.Hook.Active {
		p.Hook = m.Hook.URL
	}
	return p, nil
}

// owns reports whether the account may act for the owner.
func owns(v *host.Visit, owner string) bool {
	return slices.ContainsFunc(v.Owned(), func(o string) bool { return strings.EqualFold(o, owner) })
}

func permissions(of map[string]string) []link {
	var rows []link
	for _, name := range slices.Sorted(maps.Keys(of)) {
		rows = append(rows, link{name, of[name]})
	}
	return rows
}

func createApp(v *host.Visit) (appPage, error) {
	m, err := host.ReadManifest(v.PostFormValue("manifest"))
	if err != nil {
		return appPage{}, err
	}
	m.Name = v.PostFormValue("name")
	owner := v.PostFormValue("owner")
	if !owns(v, owner) {
		return appPage{}, host.ErrForbidden
	}
	code, err := v.Forge.CreateApp(m, owner)
	return appPage{redirect: m.Code(code, v.PostFormValue("state"))}, err
}

// appOf returns the App that the path names.
func appOf(v *host.Visit) (store.App, error) {
	for _, app := range v.State.Apps {
		if strings.EqualFold(app.Slug, v.PathValue("slug")) {
			return app, nil
		}
	}
	return store.App{}, host.ErrNotFound
}

func readApp(v *host.Visit) (appPage, error) {
	app, err := appOf(v)
	p := appPage{Title: app.Name, Permissions: permissions(app.Permissions), Links: []link{{"Install", "/apps/" + app.Slug + "/installations/new"}}}
	var on []string
	for _, i := range app.Installations {
		on = append(on, i.Owner)
	}
	if on != nil {
		p.Text = "Installed on " + strings.Join(on, ", ") + "."
	}
	if app.Hook.Active {
		p.Hook = app.Hook.URL
	}
	return p, err
}

func askForInstallation(v *host.Visit) (appPage, error) {
	app, err := appOf(v)
	return appPage{
		Title: "Install " + app.Name, Permissions: permissions(app.Permissions), Owners: v.Owned(),
		Action: fmt.Sprintf("/apps/%s/installations/new", app.Slug), Button: "Install",
	}, err
}

func install(v *host.Visit) (appPage, error) {
	app, err := appOf(v)
	owner := v.PostFormValue("owner")
	switch {
	case err != nil:
		return appPage{}, err
	case !owns(v, owner):
		return appPage{}, host.ErrForbidden
	}
	_, err = v.Forge.Install(app.ID, owner)
	return appPage{redirect: "/apps/" + app.Slug}, err
}
