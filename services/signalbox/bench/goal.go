package bench

import "strconv"

// Goal is the goal of a figure. It is printed and not enforced.
type Goal struct {
	Ratio bool     `json:"ratio"` // the goal is for the ratio, not for the value
	Least *float64 `json:"at_least,omitempty"`
	Most  *float64 `json:"at_most,omitempty"`
}

func atLeast(ratio float64) *Goal { return &Goal{Ratio: true, Least: &ratio} }
func atMost(ratio float64) *Goal  { return &Goal{Ratio: true, Most: &ratio} }
func within(value float64) *Goal  { return &Goal{Most: &value} }

// String formats the goal for the table.
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

// met reports whether the figure's median meets the goal; ok is false if there is no
// median.
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
