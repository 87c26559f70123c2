package github

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/pkg/forge"
)

// accounts is the account of each holder of a token, as it was read once. It is dropped
// when the forge refuses the token.
type accounts struct {
	mu    sync.Mutex
	known map[string]forge.User
}

func (a *accounts) get(holder string) (forge.User, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	u, ok := a.known[holder]
	return u, ok
}

// keep keeps the account in place of all others: a token that was replaced does not come
// back.
func (a *accounts) keep(holder string, u forge.User) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known = map[string]forge.User{holder: u}
}

func (a *accounts) forget(holder string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.known, holder)
	delete(a.known, appHolder)
}

// appHolder is the holder of the account of an App. All its installations have that one.
const appHolder = "app"

// Self returns the login of the token, also of one of an App or of a workflow run.
func (c *Client) Self(ctx context.Context) (string, error) {
	account, err := c.Account(ctx)
	return account.Login, err
}

// Account returns the account that the client acts as. It is read once for each token, and
// again when the forge has refused that.
func (c *Client) Account(ctx context.Context) (forge.User, error) {
	read, holder := c.accountOfToken, appHolder
	app, ok := c.credentials.(*installations)
	if ok {
		read = func(ctx context.Context) (forge.User, error) { return c.accountOfApp(ctx, app) }
	} else {
		got, err := c.credentials.of(ctx, "", "")
		if err != nil {
			return forge.User{}, explain(ctx, whose, err)
		}
		holder = got.holder
	}
	if u, ok := c.accounts.get(holder); ok {
		return u, nil
	}
	u, err := read(ctx)
	if err == nil {
		c.accounts.keep(holder, u)
	}
	return u, err
}

const whose = "read whose the token is"

// accountOfToken reads the account of a token. REST refuses the token of an App's
// installation, such as that of a workflow run; GraphQL does not.
func (c *Client) accountOfToken(ctx context.Context) (forge.User, error) {
	row, _, err := c.api.Users.Get(ctx, "")
	if err == nil {
		return user(row), nil
	}
	err = explain(ctx, whose, err)
	if !errors.Is(err, forge.ErrDenied) {
		return forge.User{}, err
	}
	var answer struct{ Viewer actor }
	if byGraphQL := c.graphql(ctx, whose, viewerQuery, nil, &answer); byGraphQL != nil || answer.Viewer.Login == "" {
		return forge.User{}, err // REST has said it more plainly
	}
	// GitHub shows a bot as a User here, with its login as in REST.
	u := forge.User{ID: answer.Viewer.DatabaseID, Login: answer.Viewer.Login, Bot: true}
	return u, nil
}

// accountOfApp reads the account of the App's bot.
func (c *Client) accountOfApp(ctx context.Context, app *installations) (forge.User, error) {
	slug, err := app.slug(ctx)
	if err != nil {
		return forge.User{}, explain(ctx, "read which App this is", err)
	}
	login := slug + "[bot]"
	row, _, err := c.api.Users.Get(ctx, strings.NewReplacer("[", "%5B", "]", "%5D").Replace(login))
	if err != nil {
		return forge.User{}, explain(ctx, fmt.Sprintf("read the account %s of the App", login), err)
	}
	return user(row), nil
}

// NoReply returns the address by which GitHub attributes commits to the account.
func (c *Client) NoReply(u forge.User) string {
	host := strings.TrimPrefix(c.api.BaseURL.Hostname(), "api.")
	return fmt.Sprintf("%d+%s@users.noreply.%s", u.ID, u.Login, host)
}
