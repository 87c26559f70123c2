package change

import (
	"cmp"
	"strings"

	"github.com/google/go-github/v60/github"
)

// Repositories is that the repositories that can be used have changed, or one of them has.
type Repositories struct {
	Names []string // owner/name, as they are called now; empty: the forge does not name them
	Was   string   // what the one was called before; "": as it is now
}

// repository reads what happened to a repository.
func repository(e *github.RepositoryEvent, c *Change) (missing string) {
	c.at(e.GetAction(), e.GetRepo().GetFullName())
	c.Repositories = &Repositories{}
	if c.Repo != "" {
		c.Repositories.Names = []string{c.Repo}
	}
	owner, name, _ := strings.Cut(c.Repo, "/")
	from := e.GetChanges().GetOwner().GetOwnerInfo()
	if was := e.GetChanges().GetRepo().GetName().GetFrom(); was != "" {
		c.Repositories.Was = owner + "/" + was
	} else if was := cmp.Or(from.GetUser().GetLogin(), from.GetOrg().GetLogin()); was != "" {
		c.Repositories.Was = was + "/" + name
	}
	return ""
}

// installation reads what happened to the App's installation.
func installation(e *github.InstallationEvent, c *Change) (missing string) {
	c.at(e.GetAction(), "")
	c.Repositories = &Repositories{Names: names(e.Repositories)}
	return ""
}

func installationRepositories(e *github.InstallationRepositoriesEvent, c *Change) (missing string) {
	c.at(e.GetAction(), "")
	c.Repositories = &Repositories{Names: append(names(e.RepositoriesAdded), names(e.RepositoriesRemoved)...)}
	return ""
}

func names(all []*github.Repository) (names []string) {
	for _, r := range all {
		names = append(names, r.GetFullName())
	}
	return names
}
