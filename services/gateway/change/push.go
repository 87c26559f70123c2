package change

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/agent/repoconfig"
)

// push reads a push: to the branch of a pull request, or to the one it is to be merged into.
func push(e *github.PushEvent, c *Change) (missing string) {
	c.at("", e.GetRepo().GetFullName())
	if e.GetRef() == "" || e.GetAfter() == "" {
		return "a ref"
	}
	branch, ok := strings.CutPrefix(e.GetRef(), "refs/heads/")
	if !ok || e.GetDeleted() || queued(branch) > 0 { // a pull request whose branch is deleted is closed
		return ""
	}
	c.Configures = configures(e.Commits) && slices.Contains([]string{"", branch}, e.GetRepo().GetDefaultBranch())
	c.Facts = []Fact{
		{Event: c.Event, sha: e.GetAfter(), branches: []string{branch}},
		{Event: c.Event, ID: fmt.Sprintf("push %s %s %s", branch, e.GetBefore(), e.GetAfter()), base: branch, sha: e.GetAfter()},
	}
	return ""
}

// configures reports whether commits change the configuration of a repository, as far as they are
// listed.
func configures(commits []*github.HeadCommit) bool {
	return slices.ContainsFunc(commits, func(c *github.HeadCommit) bool {
		return slices.ContainsFunc(slices.Concat(c.Added, c.Modified, c.Removed), func(name string) bool {
			dir, file := path.Split(name)
			return dir == repoconfig.Dir+"/" && slices.Contains(repoconfig.Files(), file)
		})
	})
}
