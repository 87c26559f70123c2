package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

// Origin returns what the flags sign in with, for people: the App, where its key comes
// from, the token's flag. It is "" for nothing.
func (f Flags) Origin(ctx context.Context) (string, error) {
	r, stored, err := f.stored()
	switch {
	case err != nil:
		return "", err
	case stored:
		return fmt.Sprintf("the App %s (id %d) that setup has stored in %s", r.Slug, r.ID, r.dir), nil
	case f.TokenFile == "" && f.given():
		return fmt.Sprintf("the App of --forge-app-id %d", f.ID), nil
	case f.TokenFile != "" || f.Token != "":
		return "the token of " + f.origin(), nil
	case f.Anonymous(ctx):
		return "", nil
	}
	return "the login of gh at " + f.loginHost(), nil
}

// AppInfo is the App that a client works as.
type AppInfo struct {
	ID          int64
	Slug        string
	Page        string            `json:"html_url"`
	Permissions map[string]string // that it asks for
	Events      []string
}

// Installed is the installation of the App on the owner of a repository.
type Installed struct {
	ID          int64
	Page        string `json:"html_url"` // where its owner changes and accepts permissions
	Permissions map[string]string
	Events      []string
}

// ErrNoApp means that the client signs in with a token.
var ErrNoApp = errors.New("it is no App")

// WorksAsApp reports whether the client signs in as an App.
func (c *Client) WorksAsApp() bool {
	_, ok := c.credentials.(*installations)
	return ok
}

// App returns the App that the client works as, or ErrNoApp.
func (c *Client) App(ctx context.Context) (AppInfo, error) {
	var info AppInfo
	err := c.asApp(ctx, "/app", &info)
	return info, err
}

// Installed returns the App's installation for the repository.
func (c *Client) Installed(ctx context.Context, repo string) (Installed, error) {
	var found Installed
	owner, name, err := split(repo)
	if err == nil {
		err = c.asApp(ctx, "/repos/"+url.PathEscape(owner)+"/"+url.PathEscape(name)+"/installation", &found)
	}
	return found, err
}

// HookConfig is where the App's webhook delivers to.
type HookConfig struct {
	URL         string
	ContentType string `json:"content_type"`
	Insecure    any    `json:"insecure_ssl"` // "0", or 0: certificates are checked
	Secret      string // asterisks, if there is one
}

// HookDelivery is one attempt at a delivery of the App's webhook.
type HookDelivery struct {
	ID         int64     // of the attempt
	GUID       string    // of the delivery, the same for each attempt
	At         time.Time `json:"delivered_at"`
	Redelivery bool
	Status     string
	StatusCode int `json:"status_code"`
	Event      string
	Action     string
}

// Arrived reports whether it was taken.
func (d HookDelivery) Arrived() bool { return d.StatusCode >= 200 && d.StatusCode < 300 }

// Hook returns the configuration of the App's webhook. The URL is "" for none.
func (c *Client) Hook(ctx context.Context) (HookConfig, error) {
	var hook HookConfig
	err := c.asApp(ctx, "/app/hook/config", &hook)
	if errors.Is(err, forge.ErrNotFound) {
		return hook, nil
	}
	return hook, err
}

// Deliveries returns the newest attempts at deliveries, at most a hundred, the newest first.
func (c *Client) Deliveries(ctx context.Context) ([]HookDelivery, error) {
	var rows []HookDelivery
	err := c.asApp(ctx, "/app/hook/deliveries?per_page=100", &rows)
	if errors.Is(err, forge.ErrNotFound) {
		return nil, nil
	}
	return rows, err
}

// asApp reads something as the App itself.
func (c *Client) asApp(ctx context.Context, path string, into any) error {
	app, ok := c.credentials.(*installations)
	if !ok {
		return ErrNoApp
	}
	app.mu.Lock()
	defer app.mu.Unlock()
	if err := app.renewKey(); err != nil {
		return err
	}
	return app.get(ctx, path, into)
}

// Standing is what a client finds of a repository before any work.
type Standing struct {
	DefaultBranch string
	Archived      bool
	Methods       []string // of merging that it allows; nil: not told
	Push          *bool    // whether the token may push; nil: not told
	Scopes        string   // of a classic token
	Limit, Left   int      // of requests in this hour; a limit of 0: not told
	Reset         time.Time
}

// Stand returns what the repository is like.
func (c *Client) Stand(ctx context.Context, repo string) (Standing, error) {
	owner, name, err := split(repo)
	if err != nil {
		return Standing{}, err
	}
	row, resp, err := c.api.Repositories.Get(ctx, owner, name)
	if err != nil {
		return Standing{}, explain(ctx, "read repository "+repo, err)
	}
	s := Standing{DefaultBranch: row.GetDefaultBranch(), Archived: row.GetArchived(), Methods: methods(row),
		Scopes: strings.TrimSpace(resp.Header.Get("X-OAuth-Scopes")), Limit: resp.Rate.Limit, Left: resp.Rate.Remaining, Reset: resp.Rate.Reset.Time}
	if may, told := row.GetPermissions()["push"]; told {
		s.Push = &may
	}
	return s, nil
}

func methods(row *github.Repository) []string {
	var all []string
	for _, m := range []struct {
		name string
		is   *bool
	}{{"merge", row.AllowMergeCommit}, {"squash", row.AllowSquashMerge}, {"rebase", row.AllowRebaseMerge}} {
		if m.is != nil && *m.is {
			all = append(all, m.name)
		}
	}
	return all
}
