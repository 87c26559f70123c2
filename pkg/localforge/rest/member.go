package rest

import (
	"net/http"

	"github.com/signalbox/signalbox/pkg/localforge/host"
)

// getMember tells members and bots who is a member. It redirects other users to the
// public members, as GitHub does.
func getMember(c *call) (int, any, error) {
	organisation, login := c.PathValue("organisation"), c.PathValue("login")
	if c.User.Type != "Bot" && !c.Forge.Access.IsMember(organisation, c.User.Login) {
		c.header.Set("Location", c.Links().API()+"/orgs/"+organisation+"/public_members/"+login)
		return http.StatusFound, nil, nil
	}
	if !c.Forge.Access.IsMember(organisation, login) {
		return 0, nil, host.ErrNotFound
	}
	return http.StatusNoContent, nil, nil
}

// getPublicMember finds no member: no membership is public.
func getPublicMember(*call) (int, any, error) { return 0, nil, host.ErrNotFound }
