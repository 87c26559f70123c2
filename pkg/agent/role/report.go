package role

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// report completes a result with the part of the lifecycle's document, and returns it with the
// error that passes the outcome's requests to others to the runtime. failed is the error of the
// phases before; what a failed step left is not handed on. The runs on the base judge nothing.
func (s step) report(ctx context.Context, out brain.Outcome, files []work.FileChange, base []instance.Evidence, r instance.Result, failed error) (instance.Result, error) {
	if failed == nil && !out.Pauses() && s.Document != nil {
		r, failed = s.Document.Complete(s.job.Assignment, files, r)
	}
	if failed != nil {
		r.Head, r.Bundle, r.Sections = "", "", nil
	} else if r.Head != "" {
		out, failed = s.shape(ctx, out)
	}
	r.Artifacts = append(r.Artifacts, s.left(r.Evidence)...)
	r.Evidence = slices.Concat(r.Evidence, base)
	return r, needsOthers(out, r, failed)
}

// tooMuch begins the question to people about a change that deletes most of the files.
const tooMuch = "the change deletes most of the files"

// shape notes what a careful reader would stop at in the whole change. Where it deletes most of
// the files people are asked, once.
func (s step) shape(ctx context.Context, out brain.Outcome) (brain.Outcome, error) {
	if s.tree == nil || !s.asks.WritesCode() {
		return out, nil
	}
	shape, err := s.tree.Shape(ctx)
	if err != nil || len(shape.Findings) == 0 {
		return out, err
	}
	text := printable(strings.Join(shape.Findings[:min(len(shape.Findings), maxAside)], "; "))
	known := slices.ContainsFunc(s.job.Notes, func(n instance.NoteEntry) bool { return n.Kind == work.Shape && n.Text == text })
	if !known {
		if err := s.job.Note(ctx, work.Shape, text); err != nil {
			return out, err
		}
	}
	if shape.Ask && !out.Pauses() && !s.toldOf(tooMuch) {
		out.Escalate = &brain.Escalation{Reason: tooMuch + ": " + text + ". Is that meant?", RequiresHuman: true}
	}
	return out, nil
}

// needsOthers returns the error that passes an outcome's requests to others to the
// runtime, or err.
func needsOthers(out brain.Outcome, r instance.Result, err error) error {
	if errors.Is(err, brain.ErrInfrastructure) {
		return err
	}
	if out.GivesBack != "" {
		back := &agent.ErrGiveBack{Reason: printable(out.GivesBack), Head: r.Head, Bundle: r.Bundle, Sections: r.Sections}
		if err != nil {
			back.Reason += "; its changes are lost:  " + err.Error()
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
			word.Reason += "\n\nIts changes are lost:  " + err.Error()
		}
	}
	return word
}

// unjudged is the result of a step whose brain failed: what was checked, what it cost
// and what was printed.
func unjudged(r instance.Result, evidence []instance.Evidence, err error) instance.Result {
	said := printable(err.Error())
	if strings.Contains(said, "\n") { // the first line stands alone where there is room for one
		said = oneLine(said) + "\n\n" + said
	}
	return instance.Result{
		Status: instance.Failure, Unjudged: true, Summary: said,
		Evidence: evidence, Spend: r.Spend, Artifacts: r.Artifacts,
	}
}
