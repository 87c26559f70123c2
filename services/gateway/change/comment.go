package change

import (
	"fmt"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/command"
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

// Comment is a comment of a person, and the instance that it is for.
type Comment struct {
	forge.Comment        // without its commands
	Instance      string // its name
	Own           bool   // it is named for the issue
	Waits         bool   // it waits for people
	Permission    string
	Counts        bool // with that permission
	Remark        bool // it answers nothing
}

// Commands implements Seen. A comment that does not count, or answers nothing while the instance
// waits for people, is a remark. Instances that have another name get answers only.
func (c Comment) Commands() []Command {
	kind, id := "commented", fmt.Sprintf("comment/%d", c.ID)
	switch {
	case !c.Own && (!c.Counts || c.Remark):
		return nil
	case !c.Own:
		id += "/" + digest(8, "%s", c.Instance)
	case !c.Counts, c.Remark && c.Waits:
		kind = instance.Remarked
	}
	return []Command{signal(c.Instance, kind, id, c.Author.Login, map[string]string{"body": c.Body, "url": c.URL, "permission": c.Permission})}
}

// WithoutCommands returns a comment without its commands; ok is false if there was nothing else.
func WithoutCommands(g command.Grammar, comment string) (rest string, ok bool) {
	all, rest := g.Parse(comment)
	if len(all) == 0 {
		return comment, true
	}
	return rest, strings.TrimSpace(rest) != ""
}
