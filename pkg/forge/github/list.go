package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/forge"
)

var _ forge.Lister = (*Client)(nil)

// maxInstallations is how many installations of an App are read.
const maxInstallations = 10_000

// installedOn is one installation of the App.
type installedOn struct {
	ID        int64
	Account   struct{ Login string }
	Suspended string `json:"suspended_at"`
}

// InstalledOn lists the repositories that the App is installed on, of all owners, or of the
// one installation that it is to use. Suspended installations have none. Without an App it
// is ErrNoApp.
func (c *Client) InstalledOn(ctx context.Context) ([]forge.Listed, error) {
	app, ok := c.credentials.(*installations)
	if !ok {
		return nil, ErrNoApp
	}
	if app.app.Installation != 0 {
		return c.installed(ctx, "")
	}
	on, err := c.installations(ctx)
	if err != nil {
		return nil, err
	}
	if err := app.learn(on); err != nil {
		return nil, err
	}
	var all []forge.Listed
	for _, one := range on {
		if one.Suspended != "" {
			continue
		}
		some, err := c.installed(ctx, one.Account.Login)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// installations lists those of the App.
func (c *Client) installations(ctx context.Context) (all []installedOn, err error) {
	for page := 1; page > 0 && len(all) < maxInstallations; {
		var rows []installedOn
		header, err := c.ask(ctx, http.MethodGet, fmt.Sprintf("/app/installations?per_page=%d&page=%d", perPage, page), &rows)
		if err != nil {
			return nil, explain(ctx, "list the installations of the App", err)
		}
		all = append(all, rows...)
		page = 0
		if next := nextPage.FindStringSubmatch(header.Get("Link")); next != nil && len(rows) > 0 {
			page, _ = strconv.Atoi(next[1])
		}
	}
	return all, nil
}

// nextPage matches the number of the next page in a Link header.
var nextPage = lazyregexp.New(`<[^>]*[?&]page=(\d+)[^>]*>;\s*rel="next"`)

// learn notes whose installations there are, so that nobody asks for each.
func (i *installations) learn(on []installedOn) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.renew(i.app, i.url, i.base); err != nil {
		return err
	}
	for _, one := range on {
		owner := strings.ToLower(one.Account.Login)
		if t, ok := i.byOwner[owner]; one.Suspended == "" && (!ok || t.InstallationID() != one.ID) {
			i.byOwner[owner] = ghinstallation.NewFromAppsTransport(i.signer, one.ID)
		}
	}
	return nil
}

// installed lists the repositories of the owner's installation, "" for the only one.
func (c *Client) installed(ctx context.Context, owner string) ([]forge.Listed, error) {
	ctx = about(ctx, owner)
	rows, err := pages(func(page github.ListOptions) ([]*github.Repository, *github.Response, error) {
		list, resp, err := c.api.Apps.ListRepos(ctx, &page)
		if err != nil {
			return nil, resp, err
		}
		return list.Repositories, resp, nil
	})
	if err != nil {
		return nil, explain(ctx, strings.TrimSpace("list what the App is installed on "+owner), err)
	}
	all := make([]forge.Listed, 0, len(rows))
	for _, row := range rows {
		all = append(all, listed(row))
	}
	return all, nil
}

func listed(row *github.Repository) forge.Listed {
	return forge.Listed{ID: row.GetID(), Name: row.GetFullName(), Archived: row.GetArchived() || row.GetDisabled()}
}

// OwnedBy lists the owner's repositories that the token may write to. An unknown owner is
// ErrNotFound.
func (c *Client) OwnedBy(ctx context.Context, owner string) ([]forge.Listed, error) {
	var all []forge.Listed
	what := "list the repositories of " + owner
	for at := (cursor{HasNextPage: true}); at.HasNextPage; {
		var answer struct {
			RepositoryOwner *struct {
				Repositories struct {
					Nodes []*struct {
						DatabaseID       int64
						NameWithOwner    string
						IsArchived       bool
						IsDisabled       bool
						ViewerPermission string
					}
					PageInfo cursor
				}
			}
		}
		if err := c.graphql(about(ctx, owner), what, ownedQuery, map[string]any{"owner": owner, "after": at.next()}, &answer); err != nil {
			return nil, err
		}
		if answer.RepositoryOwner == nil {
			return nil, fmt.Errorf("github: %s: %w: there is no such owner", what, forge.ErrNotFound)
		}
		for _, n := range answer.RepositoryOwner.Repositories.Nodes {
			if n == nil || !n.IsArchived && !slices.Contains([]string{"WRITE", "MAINTAIN", "ADMIN"}, n.ViewerPermission) {
				continue
			}
			all = append(all, forge.Listed{ID: n.DatabaseID, Name: n.NameWithOwner, Archived: n.IsArchived || n.IsDisabled})
		}
		at = answer.RepositoryOwner.Repositories.PageInfo
	}
	return all, nil
}

// Named finds a repository by its name, or by one that it had before it was renamed. One
// that the App is not installed on is ErrNotFound.
func (c *Client) Named(ctx context.Context, repo string) (forge.Listed, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.Listed{}, err
	}
	what := "read repository " + repo
	row, _, err := c.api.Repositories.Get(ctx, url.PathEscape(owner), name)
	if err = explain(ctx, what, err); errors.Is(err, errNotInstalled) {
		err = fmt.Errorf("github: %s: %w: %w", what, forge.ErrNotFound, errNotInstalled)
	}
	if err != nil {
		return forge.Listed{}, err
	}
	return listed(row), nil
}
