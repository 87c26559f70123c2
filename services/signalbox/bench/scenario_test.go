package bench_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/services/signalbox/bench"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

func TestEachScenarioHasItsFigures(t *testing.T) {
	of := map[string]map[string][]string{ // by scenario: by what they are measured against
		"history": {"empty log": {"steps", "cpu", "start p50", "start p99"}, "": {"disk, 200 commits"}},
		"far":     {"step 8": {"start of step 20 p50", "start of step 20 p50, first after a restart"}},
		"start": {"baseline": {"replay, 20 commits, 1 alive", "replay, 200 commits, 1 alive", "replay, 200 commits, 2 alive"},
			"": {"ready, from a snapshot, 20 commits, 1 alive"},
			"20 commits": {"ready, no snapshot, 200 commits, 1 alive", "ready, from a snapshot, 200 commits, 1 alive",
				"ready, from a snapshot, 200 commits, 2 alive"}},
		"load":   {"baseline": {"from the log, 200 commits", "from the orchestrator, 200 commits"}},
		"memory": {"": {"live instance", "finished instance"}},
		"kept": {"": {"ready, no snapshot, 4000 instances", "snapshot written, 4000 instances", "ready, from a snapshot, 4000 instances",
			"heap after a start from a snapshot, 4000 instances", "a page of all, 4000 instances", "first list after a takeover, 4000 instances"}},
		"kill":     {"AckWait": {"step of a killed agent begun again, the last of 8"}},
		"takeover": {"": {"8 steps after the orchestrator was killed"}},
		"relay":    {"baseline": {"steps", "cpu", "start p50", "start p99"}},
		"replicas": {"": {"steps, 1 orchestrator", "conflicts, 4 orchestrators"}, "one": {"steps, 2 orchestrators", "steps, 4 orchestrators"}},
	}
	c := small()
	for name := range of {
		c.Scenario = append(c.Scenario, name)
	}
	c.History, c.Far, c.Kept = 200, 20, 4000
	r := measure(t, c)
	for name, bases := range of {
		if !strings.Contains(c.Help(), "\n  "+name+" ") {
			t.Errorf("the help has no %s", name)
		}
		for against, figures := range bases {
			for _, figure := range figures {
				f := find(t, r, name, figure)
				switch {
				case f.Against != against || (f.Base == nil) != (against == ""):
					t.Errorf("%s, %s is measured against %q, want %q: %+v", name, figure, f.Against, against, f)
				case f.Engine == nil && f.Reason == "":
					t.Errorf("%s, %s is null and does not say why", name, figure)
				case f.Engine != nil && len(f.Engine.Runs) != c.Repeats:
					t.Errorf("%s, %s has %d runs, want %d", name, figure, len(f.Engine.Runs), c.Repeats)
				}
			}
		}
	}
	if f := find(t, r, "load", "from the log, 200 commits"); f.Engine.Min <= 0 {
		t.Errorf("a load took %v", f.Engine)
	}
	for _, step := range []string{"step of a killed agent", "step given directly to a killed agent"} {
		if f := find(t, r, "kill", step+" begun again, the last of 8"); f.Engine.Max <= 0 {
			t.Errorf("%s was begun again %v after the kill", step, f.Engine)
		}
	}
}

func find(t *testing.T, r bench.Report, scenario, name string) *bench.Figure {
	t.Helper()
	for _, f := range r.Figures {
		if f.Scenario == scenario && f.Name == name {
			return f
		}
	}
	t.Fatalf("%s has no %s", scenario, name)
	return nil
}

func TestATableAndBenchstatHaveTheSameFigures(t *testing.T) {
	for name, want := range map[string][]string{
		"table":     {"throughput", "default", "separate", "steps", ">= 0.8 x", "nats-server 2.", "median"},
		"benchstat": {"goos: ", "\nBenchmarkThroughput/steps/default/separate/4-", "/baseline-", " ns/op\n", " B/step\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			c := small("throughput")
			c.Benchstat = name == "benchstat"
			if err := c.Run(t.Context(), &term.Env{Stdout: &out, Stderr: io.Discard}); err != nil {
				t.Fatal(err)
			}
			for _, text := range want {
				if !strings.Contains(out.String(), text) {
					t.Errorf("there is no %q in\n%s", text, &out)
				}
			}
		})
	}
}

func TestOneMeasurementWritesAProfileOfEachProcess(t *testing.T) {
	c := small("throughput")
	dir := t.TempDir()
	c.Profile, c.Out = dir+"/cpu", dir+"/report.json"
	measure(t, c)
	if size(t, c.Out) == 0 {
		t.Error("the report in the file is empty")
	}
	for _, name := range []string{"nats-server", "orchestrator", "agents"} {
		if size(t, c.Profile+"."+name) == 0 {
			t.Errorf("the profile of %s is empty", name)
		}
	}
}
