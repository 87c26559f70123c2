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

// noteUsed notes which of the learnings the prompt has: a template may leave them out.
func (s step) noteUsed(ctx context.Context, fit []learning.Learning, prompt []byte) {
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

// noteFlaky notes the tests that had both outcomes on one commit, for the next work on the
// repository. The text is the same each time, so that a test is noted once.
func (s step) noteFlaky(ctx context.Context, evidence []instance.Evidence) {
	var found []brain.Learned
	for _, ev := range evidence {
		if ev.Judgement == nil || ev.Role != "" { // an earlier step noted those of its own
			continue
		}
		for _, f := range ev.Judgement.Flaky {
			text := "The test " + f.Name + " is flaky: it fails and passes on the same commit."
			if _, _, err := learning.Clean("", text); err == nil {
				found = append(found, brain.Learned{Text: text})
			}
		}
	}
	s.noteLearned(ctx, found)
}

// noteLearned notes learnings about the repository. That one is refused is no fault of the step.
func (s step) noteLearned(ctx context.Context, all []brain.Learned) {
	if s.job.Learned == nil || s.job.LearningPolicy() == learning.None {
		return
	}
	for i, l := range all {
		if i == maxLearned {
			s.job.Progress("of %d learnings the first %d are kept", len(all), maxLearned)
			return
		}
		if err := s.job.Learned(ctx, l.Path, l.Text); err != nil {
			s.job.Progress("the learnings are not kept: %s", oneLine(err.Error()))
		}
	}
}
