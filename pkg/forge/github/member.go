package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/signalbox/signalbox/pkg/forge"
)

// Account returns the account of the token. Only GraphQL has that of an App's
// installation.
func (c *Client) Account(ctx context.Context) (forge.User, error) {
	const what = "read whose the token is"
	row, _, err := c.api.Users.Get(ctx, "")
	if err == nil {
		return user(row), nil
	}
	err = explain(ctx, what, err)
	if !errors.Is(err, forge.ErrDenied) {
		return forge.User{}, err
	}
	var answer struct{ Viewer actor }
	if byGraphQL := c.graphql(ctx, what, viewerQuery, nil, &answer); byGraphQL != nil {
		return forge.User{}, err // REST has said it more plainly
	}
	return answer.Viewer.user(), nil
}

// Member reports whether the user is a member of the organisation. GitHub redirects a
// client that is no member to the list of public members, which proves no absence.
func (c *Client) Member(ctx context.Context, organisation, login string) (bool, error) {
	what := fmt.Sprintf("read whether %s is a member of %s", login, organisation)
	member, resp, err := c.api.Organizations.IsMember(ctx, url.PathEscape(organisation), url.PathEscape(login))
	if err != nil {
		return false, explain(ctx, what, err)
	}
	if !member && resp.Request != nil && strings.Contains(resp.Request.URL.Path, "/public_members/") {
		return false, fmt.Errorf("github: %s: %w: the token's owner sees its public members only", what, forge.ErrDenied)
	}
	return member, nil
}
