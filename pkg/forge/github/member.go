package github

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/signalbox/signalbox/pkg/forge"
)

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
