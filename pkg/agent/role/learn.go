package role

import (
	"bytes"
	"context"
	"slices"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
)

// maxLearned limits what one step may add to what is known of a repository.
const maxLearned = 3

// known returns the learnings that fit the work, for its prompt. A prompt without them is
// good, too.
func (s step) known(ctx context.Context) []learning.Learning {
	if s.job.Learnings == nil || s.job.LearningPolicy() == learning.None {
		return nil
	}
	all, err := s.job.Learnings(ctx)
	if err != nil {
		s.job.Progress("the prompt is without what was learned before: %s", oneLine(err.Error()))
		return nil
	}
	var changed []string
	if s.tree != nil && slices.ContainsFunc(all, func(l learning.Learning) bool { return l.Path != "" }) {
		diff, err := s.tree.Change(ctx)
		if err != nil {
			s.job.Progress("the learnings about the changed files cannot be read: %s", oneLine(err.Error()))
		}
		for _, f := range changes(diff) {
			changed = append(changed, f.Path)
		}
	}
	return s.job.FitLearnings(all, changed)
}

// used notes which of the learnings the prompt has: a template may leave them out.
func (s step) used(ctx context.Context, fit []learning.Learning, prompt []byte) {
	var ids []string
	for _, l := range fit {
		if !slices.Contains(l.Used, s.job.Instance) && bytes.Contains(prompt, []byte(sanitize.Terminal(l.Text))) {
			ids = append(ids, l.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	if err := s.job.Used(ctx, ids); err != nil {
		s.job.Progress("that what was learned is used is not noted: %s", oneLine(err.Error()))
	}
}

// flaky notes the tests that had both outcomes on one commit, for who works on the repository
// next. The text is the same each time, so that a test is noted once.
func (s step) flaky(ctx context.Context, evidence []instance.Evidence) {
	var found brain.Outcome
	for _, ev := range evidence {
		if ev.Judgement == nil || ev.Role != "" { // an earlier step noted those of its own
			continue
		}
		for _, f := range ev.Judgement.Flaky {
			text := "The test " + f.Name + " is flaky: it fails and passes on the same commit."
			if _, _, err := learning.Clean("", text); err == nil {
				found.Learned = append(found.Learned, brain.Learned{Text: text})
			}
		}
	}
	s.learned(ctx, found)
}

// learned notes what a brain learned of the repository. What is refused is no fault of
// the step.
func (s step) learned(ctx context.Context, out brain.Outcome) {
	if s.job.Learned == nil || s.job.LearningPolicy() == learning.None {
		return
	}
	for i, l := range out.Learned {
		if i == maxLearned {
			s.job.Progress("of %d learnings the first %d are kept", len(out.Learned), maxLearned)
			return
		}
		if err := s.job.Learned(ctx, l.Path, l.Text); err != nil {
			s.job.Progress("the learnings are not kept: %s", oneLine(err.Error()))
		}
	}
}
