package brain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/instance"
)

// Link is one brain of a Chain.
type Link struct {
	Brain
	Name string // for people
}

// Chain is brains of which the next one goes on where one cannot work, for a fault
// outside the work or because people have to mend it. It implements Watched.
type Chain []Link

// Work implements Brain.
func (c Chain) Work(ctx context.Context, a Assignment) (Outcome, error) { return Unwatched(ctx, c, a) }

// Watch implements Watched. The next brain finds the tree as the one before left it, and
// is told so. The outcome has the output and the cost of all that were asked.
func (c Chain) Watch(ctx context.Context, a Assignment, w Watcher) (Outcome, error) {
	var output []byte
	var spent instance.Cost
	for i, link := range c {
		out, err := Work(ctx, link.Brain, a, w)
		spent = spent.Add(out.Result.Spend)
		output = append(output, out.Output...)
		out.Result.Spend, out.Output = spent, output
		cannot := errors.Is(err, ErrInfrastructure) || errors.Is(err, ErrUnusable)
		if !cannot || i == len(c)-1 || ctx.Err() != nil {
			return out, err
		}
		why := strings.Join(strings.Fields(err.Error()), " ")
		w.Progress("%s cannot work, %s goes on: %s", link.Name, c[i+1].Name, why)
		output = fmt.Appendf(output, "\n[%s cannot work, %s goes on: %s]\n", link.Name, c[i+1].Name, why)
		a.Warnings = append(slices.Clip(a.Warnings), fmt.Sprintf("%s could not go on; what it changed so far is in the work tree", link.Name))
	}
	return Outcome{}, fmt.Errorf("%w: a chain of no brains", ErrUnusable)
}
