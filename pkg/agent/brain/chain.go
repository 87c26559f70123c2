package brain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Link is one brain of a Chain.
type Link struct {
	Brain
	Name string // for people
}

// Chain is a list of brains. The next one goes on where one cannot work, for a fault
// outside the work or because people have to mend it. It implements Watched.
type Chain []Link

// Work implements Brain.
func (c Chain) Work(ctx context.Context, a Assignment) (Outcome, error) { return Unwatched(ctx, c, a) }

// Watch implements Watched. The next brain finds the tree as the one before left it; its
// prompt states that. The outcome has the output of all that were asked, and the
// cost of the last.
func (c Chain) Watch(ctx context.Context, a Assignment, w Watcher) (Outcome, error) {
	var output []byte
	for i, link := range c {
		out, err := Work(ctx, link.Brain, a, w)
		output = append(output, out.Output...)
		out.Output = output
		cannot := errors.Is(err, ErrInfrastructure) || errors.Is(err, ErrUnusable)
		if !cannot || i == len(c)-1 || ctx.Err() != nil {
			return out, err
		}
		if !out.Result.Spend.Zero() { // the next one's is another's
			if err := w.Spend(ctx, out.Result.Spend); err != nil {
				out.Result.Spend = instance.Cost{}
				return out, err
			}
		}
		why := strings.Join(strings.Fields(err.Error()), " ")
		w.Progress("%s cannot work, %s goes on: %s", link.Name, c[i+1].Name, why)
		output = fmt.Appendf(output, "\n[%s cannot work, %s goes on: %s]\n", link.Name, c[i+1].Name, why)
		a.Warnings = append(slices.Clip(a.Warnings), fmt.Sprintf("%s could not go on; its changes so far are in the work tree", link.Name))
	}
	return Outcome{}, fmt.Errorf("%w: a chain of no brains", ErrUnusable)
}
