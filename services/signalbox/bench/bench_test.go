package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

func TestBenchTellsHowFastAllStepsWere(t *testing.T) {
	var out bytes.Buffer
	c := bench.Command{Instances: 10, InFlight: 4, Sync: 100 * time.Millisecond}
	if err := c.Run(t.Context(), &term.Env{Stdout: &out, JSON: true}); err != nil {
		t.Fatal(err)
	}
	var r bench.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Instances != 10 || r.Steps != 80 || r.InFlight != 4 || r.Sync != "100ms" {
		t.Errorf("it measured %+v", r)
	}
	if r.StepsPerS <= 0 || r.StartP50MS <= 0 || r.StartP50MS > r.StartP99MS {
		t.Errorf("figures are %+v", r)
	}
}

func TestABenchThatIsStoppedHasNoFigures(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out bytes.Buffer
	err := bench.Command{Instances: 1, InFlight: 1}.Run(ctx, &term.Env{Stdout: &out})
	if !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("err = %v, it printed %q", err, &out)
	}
}

func TestNothingCannotBeMeasured(t *testing.T) {
	for _, c := range []bench.Command{{}, {Instances: 1}, {InFlight: 1}, {Instances: -1, InFlight: 1}} {
		if c.Validate() == nil {
			t.Errorf("%d instances, %d in flight are measured", c.Instances, c.InFlight)
		}
	}
}
