package local

import (
	"net/http"
	"slices"
	"strings"
)

// belongs tells whether the user is a member of the organisation.
func (f *Forge) belongs(organisation, login string) bool {
	return slices.ContainsFunc(f.config.Users, func(u User) bool {
		return strings.EqualFold(u.Login, login) && slices.ContainsFunc(u.Organisations, func(o string) bool { return strings.EqualFold(o, organisation) })
	})
}

// getMember tells members, and bots, who is a member. Everybody else is sent on
// to the public ones, as GitHub does.
func getMember(c *call) (int, any, error) {
	organisation, login := c.PathValue("organisation"), c.PathValue("login")
	if c.user.Type != "Bot" && !c.f.belongs(organisation, c.user.Login) {
		c.header.Set("Location", c.api()+"/orgs/"+organisation+"/public_members/"+login)
		return http.StatusFound, nil, nil
	}
	if !c.f.belongs(organisation, login) {
		return 0, nil, errNotFound
	}
	return http.StatusNoContent, nil, nil
}

// getPublicMember: nobody here shows whom they belong to.
func getPublicMember(*call) (int, any, error) { return 0, nil, errNotFound }
