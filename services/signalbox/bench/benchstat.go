package bench

import (
	"fmt"
	"runtime"
	"strings"
)

// benchstat prints a report in the format of Go's benchmarks: a line a figure
// and repeat, its value under its unit.
func (b *bench) benchstat(r Report) error {
	b.env.Printf("goos: %s\ngoarch: %s\ncpu: %s\npkg: github.com/signalbox/signalbox/services/signalbox/bench\n", runtime.GOOS, runtime.GOARCH, r.Machine.CPU)
	for i := range r.Repeats {
		for _, f := range r.Figures {
			line(b, f, "", f.Engine, i)
			if f.Against == "floor" {
				line(b, f, "/floor", f.Base, i)
			}
		}
	}
	return nil
}

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

// title begins a benchmark's name: a small letter there is none.
func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
