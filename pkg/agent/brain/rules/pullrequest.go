package rules

import (
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/sanitize"
)

// PullRequestContext is what a pull request's text says beyond the assignment.
type PullRequestContext struct {
	Summary  string // of who made the change; may be empty
	Commits  []Commit
	Diffstat string // as git diff --stat prints it
	Closes   bool   // the base is the default branch: only then does the forge close the issue
}

// Commit is a commit of the work.
type Commit struct{ SHA, Subject string }

// maxTitle is how many characters of a title are kept.
const maxTitle = 72

// PullRequest words the pull request of the assignment's work. What others
// wrote is repeated so that it notifies nobody and closes nothing.
func PullRequest(a brain.Assignment, c PullRequestContext) (title, body string) {
	body = write("pull_request.md", map[string]any{
		"Issue": a.Issue, "Closes": c.Closes, "Summary": c.Summary, "Commits": c.Commits, "Diffstat": c.Diffstat,
		"Tests": newest(a), "Questions": a.Questions, "Assumed": assumed(a),
	})
	return pullRequestTitle(a), body + "\n" + Marker(a.Instance, "pull-request") + "\n"
}

func pullRequestTitle(a brain.Assignment) string {
	title := sanitize.Subject(strings.TrimRight(oneLine(tag.ReplaceAllString(strings.TrimSpace(a.Issue.Title), "")), " ."))
	if runes := []rune(title); len(runes) > maxTitle {
		title = strings.TrimSpace(string(runes[:maxTitle-1])) + "…"
	}
	if title == "" {
		title = fmt.Sprintf("Solve issue %d", a.Issue.Number)
	}
	return title
}

func assumed(a brain.Assignment) (texts []string) {
	for _, n := range a.Notes {
		if n.Kind == "assumption" {
			texts = append(texts, n.Text)
		}
	}
	return texts[:min(len(texts), maxShown)]
}
