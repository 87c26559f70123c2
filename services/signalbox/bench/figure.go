package bench

import (
	"cmp"
	"slices"
)

// Figure is a measured value with all its repeats.
type Figure struct {
	Scenario string `json:"scenario"`
	Name     string `json:"name"`
	Unit     string `json:"unit"`
	Setting
	// Engine is the measured value; null if there is none, and Reason says why.
	Engine *Spread `json:"engine"`
	// Base is the value to compare with, and Against its name: "baseline" is raw
	// JetStream. Ratio is Engine over Base, repeat by repeat.
	Against string  `json:"against,omitempty"`
	Base    *Spread `json:"base"`
	Ratio   *Spread `json:"ratio"`
	Goal    *Goal   `json:"goal,omitempty"`
	// Others is the CPU of other processes meanwhile, in percent of the machine.
	Others *Spread `json:"others_cpu_percent"`
	Reason string  `json:"reason,omitempty"`
}

// Setting is the condition of a measurement.
type Setting struct {
	Mode     string `json:"mode,omitempty"`      // strict: each append is flushed before its acknowledgement; default: every two minutes
	Server   string `json:"server,omitempty"`    // separate or embedded
	InFlight int    `json:"in_flight,omitempty"` // instances at a time
}

// Spread is the values of the repeats.
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

// sample is the value of one repeat.
type sample struct {
	Scenario, Name, Unit string
	Setting
	Value   float64
	Against string
	Base    *float64
	Others  *float64
	Goal    *Goal
	Reason  string // why there is no Value
}

// figures are the figures of a run in the order of their first samples.
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

// find returns the first figure with the name, nil if there is none.
func (f *figures) find(of, name string) *Figure {
	for _, x := range f.all {
		if x.Scenario == of && x.Name == name {
			return x
		}
	}
	return nil
}

// quantile returns the quantile q of values.
func quantile[T cmp.Ordered](values []T, q float64) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(q*float64(len(sorted)-1))]
}
