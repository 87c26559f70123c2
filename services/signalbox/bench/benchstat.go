package bench

import (
	"fmt"
	"runtime"
	"strings"
)

// benchstat prints a report in the Go benchmark format: a line for each figure and
// repeat.
func (b *bench) benchstat(r Report) error {
	b.env.Printf("goos: %s\ngoarch: %s\ncpu: %s\npkg: github.com/signalbox/signalbox/services/signalbox/bench\n", runtime.GOOS,
		runtime.GOARCH, r.Machine.CPU)
	for i := range r.Repeats {
		for _, f := range r.Figures {
			line(b, f, "", f.Engine, i)
			if f.Against == "baseline" {
				line(b, f, "/baseline", f.Base, i)
			}
		}
	}
	return nil
}

// line prints one repeat of a spread.
func line(b *bench, f *Figure, which string, s *Spread, i int) {
	if s == nil || i >= len(s.Runs) {
		return
	}
	value, unit := s.Runs[i], f.Unit
	if unit == "1/s" {
		value, unit = 1e9/value, "ns/op"
	}
	name := strings.Join([]string{f.Scenario, f.Name, f.Mode, f.Server, fmt.Sprint(f.InFlight)}, "/")
	b.env.Printf("Benchmark%s%s-%d\t1\t%g %s\n", strings.ReplaceAll(title(name), " ", "-"), which, runtime.GOMAXPROCS(0), value, unit)
}

// title makes the first letter a capital: benchmarks have no names in small letters.
func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
