package brain_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// saying is a brain that prints its name, costs a token, and ends with an error.
type saying struct {
	name string
	err  error
	told *[]string // the warnings of the assignment
}

func (s saying) Work(_ context.Context, a brain.Assignment) (brain.Outcome, error) {
	*s.told = a.Warnings
	return brain.Outcome{Declared: true, Output: []byte(s.name),
		Result: instance.Result{Summary: s.name, Spend: instance.Cost{TokensIn: 1}}}, s.err
}

func TestTheNextBrainGoesOnWhereOneCannotWork(t *testing.T) {
	failed := errors.New("the work failed")
	cases := []struct {
		name   string
		errs   []error
		want   string
		err    error
		tokens int64
	}{
		{"the first works", []error{nil, nil}, "a", nil, 1},
		{"a fault of the machinery", []error{fmt.Errorf("%w: 529", brain.ErrInfrastructure), nil}, "b", nil, 2},
		{"a key that is wrong", []error{fmt.Errorf("%w: 401", brain.ErrUnusable), nil}, "b", nil, 2},
		{"a failure of the work is the work's", []error{failed, nil}, "a", failed, 1},
		{"a budget is spent for all", []error{brain.ErrBudget, nil}, "a", brain.ErrBudget, 1},
		{"none can", []error{brain.ErrUnusable, brain.ErrInfrastructure}, "b", brain.ErrInfrastructure, 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var told []string
			var chain brain.Chain
			for i, err := range c.errs {
				name := string(rune('a' + i))
				chain = append(chain, brain.Link{Brain: saying{name, err, &told}, Name: name})
			}
			out, err := chain.Work(t.Context(), brain.Assignment{})
			if !errors.Is(err, c.err) || out.Result.Summary != c.want || out.Result.Spend.TokensIn != c.tokens {
				t.Errorf("got %+v, %v", out.Result, err)
			}
			if c.want == "b" && (len(told) != 1 || !strings.Contains(string(out.Output), "a cannot work, b goes on") ||
				!strings.HasSuffix(string(out.Output), "b")) {
				t.Errorf("the second is told %q, and the output is %s", told, out.Output)
			}
		})
	}
}
