package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// The processes of a measurement are this binary.
func TestMain(m *testing.M) {
	process.Main(context.Background())
	os.Exit(m.Run())
}

// small is a measurement that takes seconds.
func small(scenarios ...string) bench.Command {
	return bench.Command{
		Scenario: scenarios, Repeats: 1, Instances: 10, InFlight: 4, Sync: []time.Duration{2 * time.Minute}, Server: []string{"separate"},
		History: 100, Far: 16, Kept: 4000,
	}
}

// measure returns the report of a run.
func measure(t *testing.T, c bench.Command) bench.Report {
	t.Helper()
	var out bytes.Buffer
	if err := c.Run(t.Context(), &term.Env{Stdout: &out, Stderr: io.Discard, JSON: true}); err != nil {
		t.Fatal(err)
	}
	var r bench.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// figure returns a figure that has to be there, with so many runs.
func figure(t *testing.T, r bench.Report, scenario, name string, s bench.Setting, runs int) *bench.Figure {
	t.Helper()
	for _, f := range r.Figures {
		if f.Scenario == scenario && f.Name == name && f.Setting == s {
			if f.Engine == nil && f.Reason == "" || f.Engine != nil && len(f.Engine.Runs) != runs {
				t.Errorf("%s, %s is %+v, want %d runs or a reason", scenario, name, f, runs)
			}
			return f
		}
	}
	t.Fatalf("%s has no %s under %+v", scenario, name, s)
	return nil
}

func TestBenchTellsHowFastStepsAreAgainstTheBaseline(t *testing.T) {
	for name, c := range map[string]bench.Command{
		"default mode, separate server": {Repeats: 2, Sync: []time.Duration{2 * time.Minute}, Server: []string{"separate"}},
		"strict mode, embedded server":  {Repeats: 1, Sync: []time.Duration{0}, Server: []string{"embedded"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.Scenario, c.Instances, c.InFlight = []string{"throughput", "handoff"}, 10, 4
			r := measure(t, c)
			s := bench.Setting{Mode: strings.Fields(name)[0], Server: c.Server[0], InFlight: 4}
			for _, name := range []string{"steps", "cpu", "log"} {
				f := figure(t, r, "throughput", name, s, c.Repeats)
				if f.Against != "baseline" || f.Engine.Min <= 0 || f.Base.Min <= 0 || f.Ratio.Median <= 0 {
					t.Errorf("%s is %+v", name, f)
				}
			}
			figure(t, r, "throughput", "flushes of the whole disk", s, c.Repeats)
			steps := figure(t, r, "throughput", "steps", s, c.Repeats)
			if *r.StepsPerS != steps.Engine.Median || *r.RawStepsPerS != steps.Base.Median || *r.Ratio != steps.Ratio.Median {
				t.Errorf("the report begins with %v, %v, %v, want those of %+v", *r.StepsPerS, *r.RawStepsPerS, *r.Ratio, steps)
			}
			s.InFlight = 1
			p50, p99 := figure(t, r, "handoff", "start p50", s, c.Repeats), figure(t, r, "handoff", "start p99", s, c.Repeats)
			if p50.Engine.Min <= 0 || p50.Engine.Median > p99.Engine.Median || p50.Base.Min <= 0 {
				t.Errorf("hand-offs are %+v and %+v", p50, p99)
			}
			if *r.StartP50MS != p50.Engine.Median || *r.StartP99MS != p99.Engine.Median || r.Repeats != c.Repeats || r.Machine.Cores < 1 ||
				r.Command == "" {
				t.Errorf("the report is %+v", r)
			}
		})
	}
}

func TestABenchThatIsStoppedHasNoFigures(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out bytes.Buffer
	err := small("throughput").Run(ctx, &term.Env{Stdout: &out, Stderr: io.Discard})
	if !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("err = %v, it printed %q", err, &out)
	}
}

func TestNothingCannotBeMeasured(t *testing.T) {
	for name, change := range map[string]func(*bench.Command){
		"no instances":        func(c *bench.Command) { c.Instances = 0 },
		"none in flight":      func(c *bench.Command) { c.InFlight = 0 },
		"never":               func(c *bench.Command) { c.Repeats = 0 },
		"an unknown one":      func(c *bench.Command) { c.Scenario = []string{"speed"} },
		"no history":          func(c *bench.Command) { c.History = 0 },
		"a step that is near": func(c *bench.Command) { c.Far = 8 },
		"no mode":             func(c *bench.Command) { c.Sync = nil },
		"a flush in the past": func(c *bench.Command) { c.Sync = []time.Duration{-1} },
	} {
		c := small()
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		if change(&c); c.Validate() == nil {
			t.Errorf("%s is measured", name)
		}
	}
}

func size(t *testing.T, file string) int64 {
	t.Helper()
	i, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return i.Size()
}
