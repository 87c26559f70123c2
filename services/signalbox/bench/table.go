package bench

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/services/signalbox/term"
)

// table prints a report as a table.
func (b *bench) table(r Report) error {
	m := r.Machine
	b.env.Printf("%s, %d cores, %s %s; %s, nats-server %s; %s\n", m.CPU, m.Cores, m.OS, m.Kernel, m.Go, m.NATS, m.Build)
	b.env.Printf("%s\n%s, %.0f s; median (least to most) of %d\n\n", r.Command, r.Start.Format("2006-01-02 15:04 MST"), r.Seconds, r.Repeats)
	t := b.env.Table("scenario", "mode", "nats-server", "in flight", "figure", "engine", "", "unit", "against", "base", "ratio", "goal",
		"others")
	for _, f := range r.Figures {
		t.Row(f.Scenario, f.Mode, f.Server, orEmpty(f.InFlight), f.Name, f.Engine.text(), f.Engine.span(), f.Unit, f.Against, f.Base.text(),
			f.Ratio.text(), f.judged(), f.Others.percent())
	}
	if err := t.Print(); err != nil {
		return err
	}
	for _, f := range r.Figures {
		if f.Reason != "" {
			b.env.Printf("\n%s, %s: %s", f.Scenario, f.Name, strings.ReplaceAll(f.Reason, "\n", "; "))
		}
	}
	b.env.Printf("\nothers: CPU that other processes took meanwhile, of the machine\n")
	return nil
}

// orEmpty formats n, "" for 0.
func orEmpty(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func (s *Spread) text() string {
	if s == nil {
		return "-"
	}
	return number(s.Median)
}

func (s *Spread) span() string {
	if s == nil || len(s.Runs) < 2 {
		return ""
	}
	return "(" + number(s.Min) + " to " + number(s.Max) + ")"
}

func (s *Spread) percent() string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", s.Median)
}

// number formats v with three significant digits.
func number(v float64) string {
	if v >= 100 || v <= -100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// judged returns the goal and whether it is met.
func (f *Figure) judged() any {
	if f.Goal == nil {
		return ""
	}
	met, ok := f.Goal.met(f)
	switch {
	case !ok:
		return f.Goal.String()
	case met:
		return term.Cell{Style: term.Good, Text: f.Goal.String() + " yes"}
	}
	return term.Cell{Style: term.Bad, Text: f.Goal.String() + " no"}
}
