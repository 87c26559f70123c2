package role

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// judgement is a brain's result without what is not a brain's, or not this
// role's, to say. What is refused is reported by its name.
func (s step) judgement(ctx context.Context, out brain.Outcome) instance.Result {
	r := out.Result
	r.Summary = printable(r.Summary)
	r.Base, r.Head, r.Bundle, r.Evidence, r.Artifacts, r.Unjudged = "", "", "", nil, nil, false
	refused := out.Refused
	r.Sections = maps.Clone(r.Sections)
	for _, name := range slices.Sorted(maps.Keys(r.Sections)) {
		if !slices.Contains(s.job.Writes, name) {
			delete(r.Sections, name)
			refused = append(slices.Clone(refused), fmt.Sprintf("section %s is not the %s's to write; it stays as it was", name, s.job.Role))
		}
	}
	for _, what := range refused {
		s.job.Progress("refused: %s", what)
	}
	r.IssuesFound = append(slices.Clone(r.IssuesFound), refused...)
	if s.asks.WritesCode() && r.Data != nil {
		// Rules read variables: who writes the code is judged by the code alone.
		s.job.Progress("dropped: data %s; who changes the code sets no variables", strings.Join(slices.Sorted(maps.Keys(r.Data)), ", "))
		r.Data = nil
	}
	for _, n := range out.Notes {
		if err := s.job.Note(ctx, n.Kind, printable(n.Text)); err != nil {
			s.job.Progress("a note is lost: %v", err)
		}
	}
	return r
}

// judged holds a brain's word against the evidence: it may doubt a pass, never
// a failure. Where there is none, the word has to be said.
func (s step) judged(out brain.Outcome, r instance.Result) (instance.Result, error) {
	if len(r.Evidence) == 0 && !out.Declared && !out.Pauses() {
		return r, fmt.Errorf("%s says nothing of how it judges: it has to state a result", s.job.Role)
	}
	for _, ev := range r.Evidence {
		if ev.OK {
			continue
		}
		if r.Status == instance.Success {
			r.Status = instance.Failure
		}
		r.FailureSignature = testrun.Signature(ev)
	}
	return r, nil
}

// needsOthers returns the error by which the runtime learns what an outcome asks
// of others, or err.
func needsOthers(out brain.Outcome, r instance.Result, err error) error {
	if errors.Is(err, brain.ErrInfrastructure) {
		return err
	}
	if out.GivesBack != "" {
		back := &agent.ErrGiveBack{Reason: printable(out.GivesBack), Head: r.Head, Bundle: r.Bundle, Sections: r.Sections}
		if err != nil {
			back.Reason += "; what it left is lost: " + err.Error()
		}
		return back
	}
	if err == nil && len(out.Asks) > 0 {
		err = &agent.ErrAsk{Questions: out.Asks, Head: r.Head, Bundle: r.Bundle, Sections: r.Sections}
	}
	e := out.Escalate
	if e == nil {
		return err
	}
	word := &agent.ErrEscalate{Reason: printable(e.Reason), RequiresHuman: e.RequiresHuman, Then: err}
	if e.RequiresHuman {
		word.Head, word.Bundle, word.Sections = r.Head, r.Bundle, r.Sections
		if err != nil && !agent.NeedsOthers(err) { // nothing else will say so
			word.Reason += "\n\nWhat it left is lost: " + err.Error()
		}
	}
	return word
}

// printable is a program's text without what a terminal would obey: it goes into
// commits and comments.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}
