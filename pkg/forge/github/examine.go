package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
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

// RepositoryInfo is what a client finds of a repository before any work.
type RepositoryInfo struct {
	DefaultBranch string
	Archived      bool
	Methods       []string // of merging that it allows; nil: not known
	Push          *bool    // whether the token may push; nil: not known
	Scopes        string   // of a classic token
	Limit, Left   int      // of requests in this hour; a limit of 0: not known
	Reset         time.Time
}

// RepositoryInfo returns what the repository is like.
func (c *Client) RepositoryInfo(ctx context.Context, repo string) (RepositoryInfo, error) {
	owner, name, err := split(repo)
	if err != nil {
		return RepositoryInfo{}, err
	}
	row, resp, err := c.api.Repositories.Get(ctx, owner, name)
	if err != nil {
		return RepositoryInfo{}, explain(ctx, "read repository "+repo, err)
	}
	s := RepositoryInfo{DefaultBranch: row.GetDefaultBranch(), Archived: row.GetArchived(), Methods: methods(row),
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
