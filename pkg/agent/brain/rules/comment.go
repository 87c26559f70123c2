package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// ToAll begins an answer that an earlier build took for one to all open questions. The reader
// finds the part that answers the question at hand.
const ToAll = instance.AnswerToAll

// Edited is the kind of a note that has the text of an edited issue. It adds to the report,
// and answers or decides nothing.
const Edited = "edited"

// Unheeded is the comment that says which named issues hold no work, each with the reason.
func Unheeded(all []string) string { return write("unheeded.md", map[string]any{"All": all}) }

// NowReads begins the text of an edited issue.
const NowReads = "The issue was edited. It now reads:\n\n"

// isComment reports whether the note is what a person said on the forge.
func isComment(n instance.NoteEntry) bool { return n.Kind == "commented" || n.Kind == "comment" }

// openOf lists the questions to people that nobody has answered.
func openOf(questions []instance.Question) []instance.Question {
	return slices.DeleteFunc(slices.Clone(questions), func(q instance.Question) bool { return q.Answered || q.To != "" })
}

// Questions is the comment that puts the open questions to people and says how
// to answer. It names those that what was said since they were asked does not answer.
// Like all comments here it has no marker yet.
func Questions(a brain.Assignment) string {
	open := openOf(a.Questions)
	var unclear []string
	for _, q := range open {
		said := func(n instance.NoteEntry) bool {
			return isComment(n) && !ours(n.Text) && !n.At.Before(q.AskedAt) && !Remark(n.Text, "")
		}
		if a.Attempt > 1 && slices.ContainsFunc(a.Notes, said) {
			unclear = append(unclear, fmt.Sprintf("Q%d", q.Number))
		}
	}
	f := languageOf(a.Issue.Title + "\n" + a.Issue.Body).frame
	data := map[string]any{"Open": open, "Begin": f.Ask, "How": f.One, "Then": f.Then}
	if len(open) < len(a.Questions) {
		data["Begin"] = f.Again
	} else if have := haveFrom(a); have != "" {
		data["Have"] = fmt.Sprintf(f.Have, have)
	}
	if len(unclear) > 0 {
		data["Unclear"] = fmt.Sprintf(f.Unclear, strings.Join(unclear, ", "))
	}
	if len(open) > 1 {
		data["How"] = fmt.Sprintf(f.Many, fmt.Sprintf("Q%d", open[0].Number))
	}
	return write("questions.md", data)
}

// haveFrom lists, in the language of the report, the elements that the analyst by rule found.
func haveFrom(a brain.Assignment) string {
	if a.Last == nil || a.Last.Data["kind"] == "" {
		return ""
	}
	l := languageOf(a.Issue.Title + "\n" + a.Issue.Body)
	var have []string
	for _, name := range strings.Split(a.Last.Data["found"], ", ") {
		for e, label := range english.labels {
			if strings.EqualFold(label, name) {
				if label = l.labels[e]; l == spoken[0] {
					label = name
				}
				have = append(have, label)
			}
		}
	}
	return strings.Join(have, ", ")
}

// Opened is the comment that tells people of the pull request.
func Opened(number int, url string) string {
	return write("opened.md", map[string]any{"Number": number, "URL": url})
}

// End is how an instance ended.
type End struct {
	State   string // failed, requires_human_intervention, …
	Reason  string // of the last move
	Summary string // of the last result
	Failed  []string
}

// Ending is the comment that tells people how it ended without a pull request.
func Ending(e End) string {
	e.Failed = e.Failed[:min(len(e.Failed), maxShown)]
	return write("ending.md", e)
}

// Withheld tells people that a comment was not posted, and why. The findings name no
// secret.
func Withheld(instance string, found []string) string {
	found = found[:min(len(found), maxShown)]
	return write("withheld.md", map[string]any{"Found": found, "Command": "signalbox history " + instance})
}

// Unchecked is the comment on a pull request on which no check has reported.
func Unchecked(head string) string { return write("unchecked.md", map[string]any{"Head": head}) }

// Misconfigured is the comment that tells people what is wrong with the configuration of
// their repository.
func Misconfigured(problem string) string {
	return write("misconfigured.md", map[string]any{"Problem": problem})
}
