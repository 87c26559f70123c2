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

// PullRequest is the text of the pull request of an assignment's work. Texts of others are
// quoted so that they notify nobody and close nothing.
type PullRequest struct {
	Assignment brain.Assignment
	Summary    string // of who made the change; may be empty
	Commits    []Commit
	Diffstat   string // as git diff --stat prints it
	Closes     bool   // the base is the default branch: only then does the forge close the issue
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

// Body returns the body in Markdown. It shortens a body that is too long for a forge, and lists the parts that are left out.
func (p PullRequest) Body() string {
	marker := "\n" + Marker(p.Assignment.Instance, "pull-request") + "\n"
	for most := maxEntries; ; most /= 2 {
		if body := p.body(most) + marker; most == 0 || utf8.RuneCountInString(body) <= maxBody {
			return body
		}
	}
}

// body has at most so many commits, files and questions; with 0 only the beginning of the
// other texts, too.
func (p PullRequest) body(most int) string {
	a := p.Assignment
	commits, questions, assumptions := p.Commits[:min(len(p.Commits), most)], a.Questions[:min(len(a.Questions), most)], assumed(a)
	issue, summary := a.Issue, p.Summary
	if most == 0 {
		issue.Body, summary, assumptions = beginning(issue.Body), beginning(summary), nil
	}
	proof := instance.ProofOf(a.Evidence, a.Base, a.Head)
	return fold(write("pull_request.md", map[string]any{
		"Issue": issue, "Closes": p.Closes, "Summary": summary,
		"Commits": commits, "MoreCommits": len(p.Commits) - len(commits), "Diffstat": shortened(p.Diffstat, most),
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

// Title returns the title.
func (p PullRequest) Title() string {
	a := p.Assignment
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
