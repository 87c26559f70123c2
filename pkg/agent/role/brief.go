package role

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/prompt"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// brief returns the assignment of the brain: the job's, with the work tree, the evidence and the
// warnings of the phases before, and the rest of the prompt.
func (s step) brief(ctx context.Context, checked []instance.Evidence, base tried, unready []string) (a brain.Assignment, err error) {
	a = s.job.Assignment
	if s.tree != nil {
		a.Dir, a.Shared = s.tree.Dir, s.tree.Shared
	}
	if checked != nil {
		a.Evidence = checked
	}
	a.Evidence = slices.Concat(a.Evidence, base.shown)
	a.Warnings = slices.Concat(a.Warnings, base.warnings, unready)
	a.Brief, err = s.briefing(ctx)
	return a, err
}

// briefing returns the parts of a prompt other than the assignment. It reads the repository's
// base, which no agent has changed.
func (s step) briefing(ctx context.Context) (work.Brief, error) {
	var b work.Brief
	if s.free { // it reads no prompt
		return b, nil
	}
	if s.job.Steps != nil {
		var err error
		if b.Steps, err = s.job.Steps(ctx); err != nil {
			s.job.Progress("the prompt is without the earlier steps: %s", oneLine(err.Error()))
		}
	}
	b.Learnings = s.known(ctx)
	if s.tree == nil {
		return b, nil
	}
	b.Forbidden = s.Rules.Forbidden
	b.Criteria, _ = criteria(s.job.Assignment) // what is wrong with them accept says
	if w := detect(s.tree.Dir, []string{testrun.Name})[0]; w.found {
		b.Test = w.plan.Command()
	}
	if slices.Contains(s.job.Writers, s.job.Role) {
		trusted, err := s.trusted(ctx, s.tree)
		if err != nil {
			return b, err
		}
		b.Kept = slices.Sorted(maps.Keys(trusted))
	}
	return b, prompt.Repository(&b, s.job.Role, s.job.State, func(name string) (string, string, error) { return s.ofBase(ctx, name) })
}

// ofBase returns a file of the base, and git's id of its content. Both are empty if there
// is no such file, or if it is a link.
func (s step) ofBase(ctx context.Context, name string) (text, blob string, err error) {
	v, err := s.tree.Version(ctx, s.tree.Base, name)
	if err != nil || v.Mode != "100644" && v.Mode != "100755" {
		return "", "", err
	}
	content, err := s.tree.Content(ctx, v)
	return string(content), v.Blob, err
}

// noteTemplate reports which template the prompt was made from, and which could not be used: in
// the progress, in the log and as a note.
func (s step) noteTemplate(ctx context.Context, out brain.Outcome) {
	if out.Template != "" && !strings.HasSuffix(out.Template, "("+prompt.FromShipped+")") {
		s.job.Progress("prompt: %s", out.Template)
	}
	if out.Unusable == nil {
		return
	}
	if s.Log != nil {
		s.Log.Warn("a template of the prompt cannot be used", "instance", s.job.Instance, "state", s.job.State, "role", s.job.Role,
			"used", out.Template, "error", out.Unusable)
	}
	if err := s.job.Note(ctx, prompt.NoteKind, printable(prompt.NoteText(out.Template, out.Unusable))); err != nil {
		s.job.Progress("a note is lost: %v", err)
	}
}
