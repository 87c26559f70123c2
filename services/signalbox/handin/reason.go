package handin

import (
	"cmp"
	"errors"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Reason is `signalbox pipeline reason`.
type Reason struct {
	Document string `arg:"" placeholder:"FILE" help:"The document that the job left, issue-state.json."`
	Page     string `name:"page" env:"-" placeholder:"URL" help:"Page of the job, for people who want to read all of it."`
}

// maxReason limits the characters of a reason in a comment.
const maxReason = 4000

// Run prints a comment for the issue: why there is no pull request. The text of the
// document is a quote in it, without anything that a forge acts on.
func (r Reason) Run(env *term.Env) error {
	checker, err := newChecker()
	if err != nil {
		return err
	}
	var document struct {
		Pipeline pipeline.Pipeline `json:"pipeline"`
	}
	why := "the job left no reason"
	if err := decode(r.Document, &document); err == nil {
		why = cmp.Or(document.Pipeline.BlockedReason, document.Pipeline.FailureReason, string(document.Pipeline.Status), why)
	}
	if all := []rune(why); len(all) > maxReason {
		why = string(all[:maxReason]) + " …"
	}
	body := "There is no pull request for this yet.\n\n" + sanitize.Quote(why) + "\n"
	if r.Page != "" {
		body += "\nThe whole run: <" + r.Page + ">\n"
	}
	text := outbound.Text{What: "comment", Body: body}
	if no := new(outbound.Refusal); errors.As(checker.Text(text), &no) {
		body = "There is no pull request for this yet. The text with the reason may not leave:\n\n" + sanitize.Quote(strings.Join(no.Strings(), "\n")) + "\n"
	}
	env.Printf("%s", body)
	return nil
}
