package role

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// watcher is what a step sees of a brain that works turn by turn. It implements
// brain.Watcher.
type watcher struct {
	step       *step
	budget     budget
	unrecorded instance.Cost // what could not be recorded at once
}

// Check implements brain.Watcher: the brain gets the refusals of collect before the step ends.
func (w *watcher) Check(ctx context.Context, out brain.Outcome) error {
	s := w.step
	r := out.Result
	if s.tree == nil || s.asks.DropsChanges() || r.Status != instance.Success && !out.Pauses() {
		return nil
	}
	diff, err := s.tree.Diff(ctx)
	if err != nil {
		return err
	}
	if diff.Empty() {
		return s.unchanged(out, r)
	}
	found, err := s.broken(ctx, diff)
	if err == nil && len(found) > 0 {
		err = errors.New("the change may not leave the work tree: " + strings.Join(found, "; "))
	}
	return err
}

// Spend implements brain.Watcher.
func (w *watcher) Spend(ctx context.Context, c instance.Cost) error {
	if w.step.job.Spend == nil || w.step.job.Spend(ctx, c) != nil {
		w.unrecorded = w.unrecorded.Add(c)
	}
	before := w.budget
	w.budget = before.with(c)
	if before.uses() < warnAt && w.budget.uses() >= warnAt && w.budget.uses() < 1 {
		said := fmt.Sprintf("more than %d %% of the budget is spent: %s", int(warnAt*100), w.budget)
		w.Progress("%s", said)
		if err := w.step.job.Note(ctx, "warning", said); err != nil {
			w.Progress("the warning is not recorded: %v", err)
		}
	}
	if err := w.budget.err(); err != nil {
		return err
	}
	return w.step.job.Overspent()
}

// timeEvery is how often the time of a brain without turns is recorded.
const timeEvery = time.Minute

// Timed implements brain.Watcher. Rules spend nothing that a budget bounds while they work.
func (w *watcher) Timed(ctx context.Context, name string, work func(context.Context) (brain.Outcome, error)) (brain.Outcome, error) {
	if w.step.free {
		return work(ctx)
	}
	bounded, end := context.WithCancelCause(ctx)
	defer end(nil)
	if over := w.step.job.Affordable; over != nil {
		defer context.AfterFunc(over, func() { end(context.Cause(over)) })()
	}
	recorded := time.Duration(0)
	ended := make(chan struct{})
	var clock sync.WaitGroup
	clock.Go(func() {
		tick := time.NewTicker(timeEvery)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-bounded.Done():
				return
			case <-tick.C:
			}
			recorded += timeEvery
			if err := w.Spend(ctx, instance.Cost{WallMS: timeEvery.Milliseconds(), Brain: name}); err != nil {
				end(err)
			}
		}
	})
	out, err := work(bounded)
	close(ended)
	clock.Wait()
	if recorded > 0 { // none at all would say that its time is unknown
		out.Result.Spend.WallMS = max(1, out.Result.Spend.WallMS-recorded.Milliseconds())
	}
	if cause := context.Cause(bounded); err != nil && ctx.Err() == nil && errors.Is(cause, brain.ErrBudget) {
		err = cause
	}
	return out, err
}

// Progress implements brain.Watcher.
func (w *watcher) Progress(format string, args ...any) { w.step.job.Progress(format, args...) }
