package github

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

// Manifest is what a GitHub App is to be, as GitHub reads it from a form:
// https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
type Manifest struct {
	Name        string            `json:"name,omitempty"`
	URL         string            `json:"url"`
	Hook        ManifestHook      `json:"hook_attributes"`
	Redirect    string            `json:"redirect_url"`
	Description string            `json:"description,omitempty"`
	Public      bool              `json:"public"`
	Permissions map[string]string `json:"default_permissions"`
	Events      []string          `json:"default_events"`
}

// ManifestHook is the webhook of an App.
type ManifestHook struct {
	URL    string `json:"url"`
	Active bool   `json:"active"`
}

// homepage is the page of an App that has none of its own.
const homepage = "https://github.com/signalbox/signalbox"

// NewManifest returns the manifest of an App with the permissions and events that the
// product needs. GitHub sends the browser to redirect. An empty hook is no webhook yet.
func NewManifest(name, redirect, hook string) Manifest {
	m := Manifest{
		Name: name, URL: homepage, Redirect: redirect, Description: "Takes issues from report to pull request.",
		Hook: ManifestHook{URL: cmp.Or(hook, homepage), Active: hook != ""}, Permissions: map[string]string{}, Events: Events(),
	}
	for _, n := range Needs() {
		m.Permissions[n.Name] = n.Access
	}
	return m
}

// JSON returns the manifest as GitHub's form has it.
func (m Manifest) JSON() string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // its types are all JSON's
	}
	return string(text)
}

// NewAppPage returns the page of the forge that the manifest is posted to. It is that of an
// organisation, or of the person who is signed in if that is empty.
func (f Flags) NewAppPage(organisation, state string) (string, error) {
	web, err := f.web()
	if err != nil {
		return "", err
	}
	page := "/settings/apps/new"
	if organisation != "" {
		page = "/organizations/" + url.PathEscape(organisation) + page
	}
	return web + page + "?state=" + url.QueryEscape(state), nil
}

// web returns the address of the forge's pages, without a slash at its end.
func (f Flags) web() (string, error) {
	config := Config{BaseURL: f.address()}
	host, err := config.host()
	if err != nil {
		return "", err
	}
	if host == publicHost {
		return "https://github.com", nil
	}
	u, err := url.Parse(config.BaseURL)
	if err != nil {
		return "", fmt.Errorf("github: %w: %w", forge.ErrInvalid, err)
	}
	host = strings.TrimPrefix(host, "api.") // of an enterprise on ghe.com
	return u.Scheme + "://" + host + strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/api/v3"), nil
}

// ErrExpired means that the code of a manifest was used before, or is older than an hour.
var ErrExpired = errors.New("the code is used or has expired")

// Convert makes the App of the code that the forge has sent the browser back with. The
// code works once, within an hour.
func (f Flags) Convert(ctx context.Context, code string) (Registration, error) {
	config := Config{BaseURL: f.address()}
	rest, err := config.restURL()
	if err != nil {
		return Registration{}, err
	}
	api := github.NewClient(&http.Client{Timeout: requestTimeout})
	if api.BaseURL, err = url.Parse(rest + "/"); err != nil {
		return Registration{}, fmt.Errorf("github: %w: %w", forge.ErrInvalid, err)
	}
	app, _, err := api.Apps.CompleteAppManifest(ctx, url.PathEscape(code))
	if err != nil {
		err = explain(ctx, "make the App", err)
		if errors.Is(err, forge.ErrNotFound) {
			err = fmt.Errorf("%w: %w", ErrExpired, err)
		}
		return Registration{}, err
	}
	r := Registration{
		ID: app.GetID(), Slug: app.GetSlug(), Name: app.GetName(), Owner: app.GetOwner().GetLogin(), Client: app.GetClientID(),
		Page: app.GetHTMLURL(), API: rest,
		key: app.GetPEM(), webhookSecret: app.GetWebhookSecret(), clientSecret: app.GetClientSecret(),
	}
	if r.ID <= 0 || r.key == "" {
		return r, fmt.Errorf("github: make the App: %w: the answer has no id and key", forge.ErrUnavailable)
	}
	return r, nil
}
