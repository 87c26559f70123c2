package bench

import (
	"cmp"
	"slices"
)

// Figure is one thing that was measured, once a repeat.
type Figure struct {
	Scenario string `json:"scenario"`
	Name     string `json:"name"`
	Unit     string `json:"unit"`
	Setting
	// Engine is what was measured; null if it cannot be had, and Reason says why.
	Engine *Spread `json:"engine"`
	// Base is what it is measured against, Against says what that is: "floor" is
	// raw JetStream. Ratio is Engine over Base, repeat by repeat.
	Against string  `json:"against,omitempty"`
	Base    *Spread `json:"base"`
	Ratio   *Spread `json:"ratio"`
	Goal    *Goal   `json:"goal,omitempty"`
	// Others is the CPU that other processes took meanwhile, in percent of the machine.
	Others *Spread `json:"others_cpu_percent"`
	Reason string  `json:"reason,omitempty"`
}

// Setting is under which conditions.
type Setting struct {
	Mode     string `json:"mode,omitempty"`      // strict: flushed before each acknowledgement; default: every two minutes
	Server   string `json:"server,omitempty"`    // separate or embedded
	InFlight int    `json:"in_flight,omitempty"` // instances under way at a time
}

// Spread is what the repeats came to.
type Spread struct {
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
	Runs   []float64 `json:"runs"`
}

func (s *Spread) add(v float64) *Spread {
	if s == nil {
		s = &Spread{}
	}
	s.Runs = append(s.Runs, v)
	sorted := slices.Sorted(slices.Values(s.Runs))
	s.Min, s.Max = sorted[0], sorted[len(sorted)-1]
	s.Median = (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	return s
}

// sample is one repeat's share of a figure.
type sample struct {
	Scenario, Name, Unit string
	Setting
	Value   float64
	Against string
	Base    *float64
	Others  *float64
	Goal    *Goal
	Reason  string // instead of a Value
}

// figures are all of a run, in the order they first came.
type figures struct{ all []*Figure }

func (f *figures) add(s sample) {
	i := slices.IndexFunc(f.all, func(x *Figure) bool {
		return x.Scenario == s.Scenario && x.Name == s.Name && x.Setting == s.Setting
	})
	if i < 0 {
		f.all = append(f.all, &Figure{Scenario: s.Scenario, Name: s.Name, Unit: s.Unit, Setting: s.Setting, Against: s.Against, Goal: s.Goal})
		i = len(f.all) - 1
	}
	x := f.all[i]
	if s.Others != nil {
		x.Others = x.Others.add(*s.Others)
	}
	if s.Base != nil {
		x.Base = x.Base.add(*s.Base)
	}
	if s.Reason != "" {
		x.Reason = s.Reason
		return
	}
	x.Engine = x.Engine.add(s.Value)
	if s.Base != nil && *s.Base != 0 {
		x.Ratio = x.Ratio.add(s.Value / *s.Base)
	}
}

// find returns the first figure of the name, nil if there is none.
func (f *figures) find(scenario, name string) *Figure {
	for _, x := range f.all {
		if x.Scenario == scenario && x.Name == name {
			return x
		}
	}
	return nil
}

// at is the quantile q of values.
func at[T cmp.Ordered](values []T, q float64) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(q*float64(len(sorted)-1))]
}
