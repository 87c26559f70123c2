package workflow

import (
	"time"
)

// Words of a Stay that is no time.
const (
	stayNow    = "now"
	staySignal = "signal"
)

// stays reports whether the rule keeps the instance where it is, to be worked on again.
func (r Rule) stays() bool { return r.Stay.Source != "" }

// wait is how long a stay lasts; ok is false if its text is no stay.
func (d *Definition) wait(s Stay) (after time.Duration, ok bool) {
	switch s.Source {
	case "", stayNow:
		return 0, true
	case staySignal:
		return -1, true
	}
	text := s.Source
	if m := placeholder.FindStringSubmatch(text); m != nil && m[0] == text {
		text, _ = d.Policy[m[1]].(string)
	}
	after, err := time.ParseDuration(text)
	return after, err == nil && after > 0
}
