package change

import (
	"fmt"

	"github.com/google/go-github/v60/github"
)

// status reads what became of a status of a commit, as older CI sets them.
func status(e *github.StatusEvent, c *Change) (missing string) {
	c.at("", e.GetRepo().GetFullName())
	if e.GetID() == 0 || e.GetSHA() == "" {
		return "a commit"
	}
	if e.GetState() == "pending" {
		return ""
	}
	f := Fact{Event: c.Event, ID: fmt.Sprint("status ", e.GetID()), sha: e.GetSHA()}
	for _, b := range e.Branches {
		f.branches = append(f.branches, b.GetName())
	}
	c.Facts = []Fact{f.inQueue()}
	return ""
}
