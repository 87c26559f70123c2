package rules

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// CTO makes guidance of the failures there were: which state, how often, and what was said
// of it. It reviews the codebase before a task of a plan is taken up (task lifecycle,
// cto_intervention and pending).
type CTO struct{}

const (
	intervention = "cto_intervention"
	implementing = "in_progress"

	failures = 3 // before the CTO is called, where no policy says
)

// Work implements brain.Brain.
func (CTO) Work(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
	if q := a.Question; q != nil {
		if q.From != "orchestrator" { // which asks for the review alone
			return CannotAnswer(a), nil
		}
		return codebase(ctx, a)
	}
	from := calledFrom(a.Previous)
	r := instance.Result{Status: instance.Success, ConfidenceScore: reliance}
	// The checks would find the same again: the work has to change.
	if slices.Contains([]string{"testing", "quality_review", "committing"}, from) && slices.Contains(a.Next, implementing) {
		r.Next = implementing
	}
	r.Summary = guidance(a, from)
	out := declared(r)
	out.Notes = []instance.NoteEntry{{Kind: "guidance", Text: r.Summary}}
	return out, nil
}

// calledFrom is the state that the CTO was called from.
func calledFrom(previous []string) string {
	for _, s := range slices.Backward(previous) {
		if s != intervention {
			return s
		}
	}
	return ""
}

// guidance names the repeated failure, and where to look.
func guidance(a brain.Assignment, from string) string {
	// That many failures of one state in a row call the CTO, no more and no fewer.
	said := []string{fmt.Sprintf("%s failed %g times.", code(from), Number(a, "failure_limit", failures))}
	last := a.Last
	if last != nil && strings.TrimSpace(last.Summary) != "" {
		said = append(said, "The last time: "+Sentence(excerpt(last.Summary)))
	}
	if ev := newest(a); ev.Name != "" && !ev.OK {
		said = append(said, tested(ev))
		if len(ev.Failed) > 0 {
			said = append(said, "Make these pass: "+names(ev.Failed)+".")
		}
		if text := strings.TrimSpace(ev.Output); text != "" {
			said = append(said, "It printed:\n\n"+sanitize.Verbatim(ending(text))+"\n")
		}
		if testrun.CouldNotRun(ev) {
			said = append(said, "The tests could not even run: mend that first.")
		}
	}
	if last != nil && len(last.IssuesFound) > 0 {
		said = append(said, "Mend each of these: "+Sentence(strings.Join(last.IssuesFound[:min(len(last.IssuesFound), maxShown)], "; ")))
	}
	if slices.Contains(a.Previous, intervention) {
		said = append(said, "This is not the first guidance: the attempts so far did not help, so take another way.")
	}
	return strings.Join(said, "\n")
}

// tail is how many lines of output are telling: what went wrong comes last.
const tail = 20

func ending(output string) string {
	lines := strings.Split(output, "\n")
	return strings.Join(lines[max(0, len(lines)-tail):], "\n")
}
