package role

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// maxAttempts is how often a brain may fail at one piece of work before people are asked.
const maxAttempts = 3

// firstPause is before the second attempt; before each further one it is four times as long.
const firstPause = time.Second

// errBrain marks a brain that failed at every attempt. It says nothing of the work.
var errBrain = errors.New("the brain failed")

// think has the brain work, and notes its template and the learnings that it used and made.
func (s *step) think(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
	s.job.Progress("thinking")
	out, err := s.attempt(ctx, a)
	s.noteTemplate(ctx, out)
	s.noteUsed(ctx, a.Brief.Learnings, out.Asked)
	if err == nil {
		s.noteLearned(ctx, out.Learned)
	}
	return out, err
}

// attempt has the brain work, and once more after a failure: on a tree of its own, with
// the failure among the warnings. Faults of the machinery are the caller's.
func (s *step) attempt(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
	var spent instance.Cost
	ctx = brain.WithPrinter(ctx, s.job.Printed)
	watch := &watcher{step: s, budget: s.budget()}
	pause := cmp.Or(s.Pause, firstPause)
	asked := false // once more for a result
	for n := 1; ; n++ {
		if over := s.job.Overspent(); over != nil && !s.free {
			return brain.Outcome{GivesBack: over.Error(), Result: instance.Result{Spend: spent}}, nil
		}
		out, err := brain.Work(ctx, s.brain, a, watch)
		watch.budget = watch.budget.with(out.Result.Spend) // shown at the end; the rest was seen as it came
		out.Result.Spend = spent.Add(out.Result.Spend).Add(watch.unrecorded)
		watch.unrecorded = instance.Cost{}
		if err == nil || errors.Is(err, brain.ErrInfrastructure) || ctx.Err() != nil {
			return out, err
		}
		spent = out.Result.Spend
		if out.Unreadable {
			changed, derr := s.changed(ctx)
			if derr != nil {
				return out, derr
			}
			if changed { // it is judged by what it left
				out.Notes = append(out.Notes, instance.NoteEntry{Kind: "warning", Text: "the result could not be read, and the change is taken: " + err.Error()})
				return out, nil
			}
		}
		if watch.budget.err() != nil { // what it left is handed on, and people are asked
			out.Escalate = s.more(ctx, watch.budget, out.Result.Spend)
			return out, nil
		}
		if over := s.job.Overspent(); over != nil { // what it left is handed on, and goes on another day
			out.GivesBack = over.Error()
			return out, nil
		}
		if errors.Is(err, brain.ErrUnusable) {
			return out, fmt.Errorf("%w: %w", errBrain, err) // again would be no better
		}
		if out.Unreadable && !asked {
			asked = true
			n--
			s.job.Progress("the result could not be read, it is asked for once more: %s", oneLine(err.Error()))
			a.Warnings = append(slices.Clip(a.Warnings), fmt.Sprintf("you have done this work already, and what you left is in place; "+
				"the result that you stated could not be read: %v. Do not do the work again: state the result, as the schema wants it", err))
			continue
		}
		if n == maxAttempts {
			return out, fmt.Errorf("%w %d times: %w", errBrain, n, err)
		}
		s.job.Progress("the brain failed, it is tried again in %s: %s", pause, oneLine(err.Error()))
		a.Warnings = append(slices.Clip(a.Warnings), fmt.Sprintf("attempt %d failed, what it changed is gone: %v", n, err))
		if err := pacing.Pause(ctx, pause); err != nil {
			return out, err
		}
		pause *= 4
		if s.tree == nil {
			continue
		}
		fresh, err := s.checkout(ctx, s.job.Head)
		if err != nil {
			return out, err
		}
		s.close(s.tree)
		s.tree, a.Dir, a.Shared = fresh, fresh.Dir, fresh.Shared
		if err := s.setUp(ctx, fresh); err != nil {
			return out, err
		}
	}
}

// changed reports whether there is a change in the work tree that counts.
func (s *step) changed(ctx context.Context) (bool, error) {
	if s.tree == nil || s.asks.DropsChanges() {
		return false, nil
	}
	diff, err := s.tree.Diff(ctx)
	if errors.Is(err, brain.ErrInfrastructure) {
		return false, err
	}
	return err == nil && !diff.Empty(), nil // a tree that cannot be read is the next attempt's to hear of
}
