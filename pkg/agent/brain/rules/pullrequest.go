package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
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

// The limits of a pull request's body.
const (
	maxBody    = 65000 // characters; GitHub takes 65,536
	maxEntries = 200   // commits, files and questions, of each
	maxCut     = 2000  // characters of what others wrote, if all else does not help
)

// PullRequest words the pull request of the assignment's work. Texts of others
// are quoted so that they notify nobody and close nothing. A body that a forge
// would not take is shortened, and says what it leaves out.
func PullRequest(a brain.Assignment, c PullRequestContext) (title, body string) {
	marker := "\n" + Marker(a.Instance, "pull-request") + "\n"
	for most := maxEntries; ; most /= 2 {
		body = pullRequestBody(a, c, most) + marker
		if most == 0 || utf8.RuneCountInString(body) <= maxBody {
			return pullRequestTitle(a), body
		}
	}
}

// pullRequestBody has at most so many commits, files and questions; with 0 only the
// beginning of the other texts, too.
func pullRequestBody(a brain.Assignment, c PullRequestContext, most int) string {
	commits, questions, assumptions := c.Commits[:min(len(c.Commits), most)], a.Questions[:min(len(a.Questions), most)], assumed(a)
	issue, summary := a.Issue, c.Summary
	if most == 0 {
		issue.Body, summary, assumptions = beginning(issue.Body), beginning(summary), nil
	}
	proof := instance.ProofOf(a.Evidence, a.Base, a.Head)
	return fold(write("pull_request.md", map[string]any{
		"Issue": issue, "Closes": c.Closes, "Summary": summary,
		"Commits": commits, "MoreCommits": len(c.Commits) - len(commits), "Diffstat": shortened(c.Diffstat, most),
		"Tests": newest(a), "Proof": proof, "Questions": questions,
		"Table": EvidenceOf(a).table(most), "Compared": append(compared(proof.Judgement), also(a)...),
		"MoreQuestions": len(a.Questions) - len(questions), "Assumed": assumptions, "Shape": shape(a),
		"Demo": demoOf(a), "Output": demonstration(demoOf(a)), "Pictures": photographed(demoOf(a)),
	}))
}

// shortened returns the first files of a diffstat, and its last line, which has the sums.
func shortened(stat string, files int) string {
	all := strings.Split(strings.TrimRight(stat, "\n"), "\n")
	if len(all) <= files+1 {
		return stat
	}
	left := fmt.Sprintf(" … and %d more files", len(all)-1-files)
	return strings.Join(slices.Concat(all[:files], []string{left, all[len(all)-1]}), "\n")
}

// beginning returns the beginning of a text.
func beginning(s string) string {
	if runes := []rune(s); len(runes) > maxCut {
		return string(runes[:maxCut]) + " …"
	}
	return s
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

// shape lists what a careful reader would stop at in the change.
func shape(a brain.Assignment) []string {
	for _, n := range slices.Backward(a.Notes) {
		if n.Kind == work.Shape {
			return strings.Split(n.Text, "; ")
		}
	}
	return nil
}
