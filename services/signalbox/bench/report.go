package bench

import (
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/bench/machine"
)

// Report is the JSON of the command.
type Report struct {
	// Figures of the scenarios throughput and handoff, in the first mode and with the
	// first kind of server; null if they were not measured.
	StepsPerS    *float64 `json:"steps_per_s"`
	RawStepsPerS *float64 `json:"raw_steps_per_s"`
	Ratio        *float64 `json:"throughput_ratio"`
	StartP50MS   *float64 `json:"start_p50_ms"`
	StartP99MS   *float64 `json:"start_p99_ms"`

	Figures []*Figure    `json:"figures"`
	Machine machine.Info `json:"machine"`
	Command string       `json:"command"`
	Start   time.Time    `json:"start"`
	Seconds float64      `json:"seconds"`
	Repeats int          `json:"repeats"`
}

func (b *bench) report(start time.Time) Report {
	r := Report{
		Figures: b.all, Machine: machine.Read(), Command: strings.Join(os.Args, " "),
		Start: start.UTC(), Seconds: time.Since(start).Seconds(), Repeats: b.Repeats,
	}
	if f := b.find("throughput", "steps"); f != nil {
		r.StepsPerS, r.RawStepsPerS, r.Ratio = f.Engine.median(), f.Base.median(), f.Ratio.median()
	}
	if f := b.find("handoff", "start p50"); f != nil {
		r.StartP50MS = f.Engine.median()
	}
	if f := b.find("handoff", "start p99"); f != nil {
		r.StartP99MS = f.Engine.median()
	}
	return r
}

// median returns the median, nil without values.
func (s *Spread) median() *float64 {
	if s == nil {
		return nil
	}
	return &s.Median
}

// print prints the report and writes it to --out.
func (b *bench) print(start time.Time) error {
	r := b.report(start)
	if b.Out != "" {
		data, err := json.MarshalIndent(r, "", "  ")
		if err == nil {
			err = os.WriteFile(b.Out, append(data, '\n'), 0o644)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case b.env.JSON:
		return b.env.Print(r)
	case b.Benchstat:
		return b.benchstat(r)
	}
	return b.table(r)
}
