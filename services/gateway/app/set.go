package app

import (
	"cmp"
	"strings"
)

// setChange is that the repositories that can be used have changed, or one of them has.
type setChange struct {
	event, action string
	repos         []string // owner/name, as they are called now; empty: the forge does not name them
	was           string   // what the one was called before; "": as it is now
}

// ofSet reads what happened to repositories, and to the App's installation.
type ofSet struct{}

func (ofSet) missing(p payload) string { return "" }

func (ofSet) read(p payload, d *delivery) {
	c := &setChange{event: d.event, action: d.action}
	if d.repo != "" {
		c.repos = append(c.repos, d.repo)
	}
	for _, all := range [][]named{p.Added, p.Removed, p.All} {
		for _, one := range all {
			c.repos = append(c.repos, one.FullName)
		}
	}
	owner, name, _ := strings.Cut(d.repo, "/")
	from := p.Changes.Owner.From
	switch was := cmp.Or(from.User.Login, from.Organization.Login); {
	case p.Changes.Repository.Name.From != "":
		c.was = owner + "/" + p.Changes.Repository.Name.From
	case was != "":
		c.was = was + "/" + name
	}
	d.set = c
}

// repositoriesChanged handles a change of the set of repositories: which there are is asked
// now.
func (d *deliveries) repositoriesChanged(c setChange) {
	d.log.Info("the forge says that repositories have changed", "event", c.event, "action", c.action, "repos", c.repos, "was", c.was)
	d.watched.ask()
}
