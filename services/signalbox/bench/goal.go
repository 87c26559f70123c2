package bench

import "strconv"

// Goal is what a figure is held to. It is shown and never enforced: how fast a
// machine is says nothing about whether the code is right.
type Goal struct {
	Ratio bool     `json:"ratio"` // it is about the ratio, not the figure itself
	Least *float64 `json:"at_least,omitempty"`
	Most  *float64 `json:"at_most,omitempty"`
}

func atLeast(ratio float64) *Goal { return &Goal{Ratio: true, Least: &ratio} }
func atMost(ratio float64) *Goal  { return &Goal{Ratio: true, Most: &ratio} }
func within(value float64) *Goal  { return &Goal{Most: &value} }

// String is the goal as the table shows it.
func (g Goal) String() string {
	sign, limit := "<= ", g.Most
	if g.Least != nil {
		sign, limit = ">= ", g.Least
	}
	text := sign + strconv.FormatFloat(*limit, 'g', 4, 64)
	if g.Ratio {
		text += " x"
	}
	return text
}

// met reports whether the figure's median keeps the goal; ok is false if there
// is nothing to judge.
func (g Goal) met(f *Figure) (met, ok bool) {
	s := f.Engine
	if g.Ratio {
		s = f.Ratio
	}
	if s == nil {
		return false, false
	}
	return (g.Least == nil || s.Median >= *g.Least) && (g.Most == nil || s.Median <= *g.Most), true
}
