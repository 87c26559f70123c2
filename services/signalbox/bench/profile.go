package bench

import (
	"context"
	"strconv"

	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// profile starts a CPU profile of each part, if one was asked for. A later
// measurement replaces an earlier one's.
func (b *bench) profile(ctx context.Context, parts []*process.Child) error {
	named := map[string]int{}
	for _, c := range parts {
		if b.Profile == "" {
			return nil
		}
		file := b.Profile + "." + c.Name
		if named[c.Name]++; named[c.Name] > 1 {
			file += "-" + strconv.Itoa(named[c.Name])
		}
		if err := c.Call(ctx, "Process.Profile", file, &process.None{}); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) profiled(ctx context.Context, parts []*process.Child) error {
	for _, c := range parts {
		if b.Profile == "" {
			return nil
		}
		if err := c.Call(ctx, "Process.Profiled", process.None{}, &process.None{}); err != nil {
			return err
		}
	}
	return nil
}
