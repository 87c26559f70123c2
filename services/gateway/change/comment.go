package change

import (
	"strings"

	"github.com/google/go-github/v60/github"
)

// comment reads a comment on an issue or a pull request.
func comment(e *github.IssueCommentEvent, c *Change) (missing string) {
	c.at(e.GetAction(), e.GetRepo().GetFullName())
	on := e.GetIssue()
	if on.GetNumber() <= 0 {
		return "an issue"
	}
	if e.GetComment().GetUser().GetType() == "Bot" && !on.IsPullRequest() {
		return "" // a bot's words are no signal; ours are edited often
	}
	c.Since = e.GetComment().GetCreatedAt().Time
	c.Commands = strings.Contains(e.GetComment().GetBody(), "/")
	c.Items = []Item{{Number: on.GetNumber(), Pull: on.IsPullRequest()}}
	return ""
}
