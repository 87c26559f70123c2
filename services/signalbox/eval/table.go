package eval

import (
	"fmt"
	"os"
	"slices"

	"github.com/signalbox/signalbox/services/signalbox/term"
)

// table is what eval run prints.
type table struct {
	Scores      []Score      `json:"scores"`
	Differences []Difference `json:"differences"` // of each brain from the first one
	Runs        []Run        `json:"runs"`

	cases  []Case
	brains []string
}

func newTable(cases []Case, brains []contender, runs []Run) table {
	t := table{Runs: runs, Differences: []Difference{}, cases: cases}
	for _, b := range brains {
		t.brains = append(t.brains, b.name)
	}
	order := map[string]int{}
	for i, c := range cases {
		order[c.ID] = i
	}
	slices.SortStableFunc(t.Runs, func(a, b Run) int {
		if order[a.Case] != order[b.Case] {
			return order[a.Case] - order[b.Case]
		}
		if a.Brain != b.Brain {
			return slices.Index(t.brains, a.Brain) - slices.Index(t.brains, b.Brain)
		}
		return a.Repeat - b.Repeat
	})
	t.Scores = scores(t.brains, runs)
	for _, b := range t.brains[1:] {
		t.Differences = append(t.Differences, compare(b, t.brains[0], runs))
	}
	return t
}

// print writes the table to standard output, and as a page where that is asked for.
func (c Play) print(env *term.Env, t table) error {
	if c.HTML != "" {
		page, err := t.page(env.Now())
		if err == nil {
			err = os.WriteFile(c.HTML, page, 0o644)
		}
		if err != nil {
			return fmt.Errorf("--html: %w", err)
		}
	}
	if env.JSON {
		return env.Print(t)
	}
	return t.print(env)
}

func (t table) print(env *term.Env) error {
	rows := env.Table("brain", "solved", "95 %", "wrong", "errors", "tests", "moves", "asked", "time", "tokens", "usd").Narrow("brain")
	for _, s := range t.Scores {
		rows.Row(s.Brain, s.Ratio(), s.Share.Percent(), blank(s.Wrong), blank(s.Errors), percent(s.Passed), fmt.Sprintf("%.1f", s.Iterations),
			fmt.Sprintf("%.1f", s.Questions), fmt.Sprintf("%.1fs", s.Seconds), s.Cost("%.0f", s.Tokens), s.Cost("%.3f", s.USD))
	}
	err := rows.Print()
	for _, d := range t.Differences {
		env.Printf("%s\n", d)
	}
	if len(t.Scores) > 0 {
		env.Printf("A mean of a run each, but for solved, wrong and errors. Tokens and money are what the brains reported.\n")
	}
	return err
}

// Ratio is "7/20".
func (s Score) Ratio() string { return fmt.Sprintf("%d/%d", s.Solved, s.Runs) }

// Cost formats what brains reported; "?" where they reported nothing.
func (s Score) Cost(format string, v float64) string {
	if s.Tokens == 0 && s.USD == 0 {
		return "?"
	}
	return fmt.Sprintf(format, v)
}

// Percent is the interval, "12–34 %".
func (i Interval) Percent() string { return fmt.Sprintf("%.0f–%.0f %%", 100*i.Low, 100*i.High) }

// Share is the mean, "23 %".
func (i Interval) Share() string { return percent(i.Mean) }

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// String says the difference in a sentence.
func (d Difference) String() string {
	if d.Cases == 0 {
		return fmt.Sprintf("%s and %s were run at no case both", d.A, d.B)
	}
	verdict := fmt.Sprintf("not settled: a difference of 10 points wants about %d cases", d.Needed)
	switch {
	case d.Settled && d.OnlyA > d.OnlyB:
		verdict = d.A + " solves more"
	case d.Settled:
		verdict = d.B + " solves more"
	}
	return fmt.Sprintf("%s against %s: %+.0f points (%+.0f to %+.0f) over %d cases, better at %d, worse at %d, p = %.3f: %s; %+.1fs, %+.3f USD a run",
		d.A, d.B, 100*d.Solved.Mean, 100*d.Solved.Low, 100*d.Solved.High, d.Cases, d.OnlyA, d.OnlyB, d.P, verdict, d.Seconds, d.USD)
}

func blank(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
