package bench

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/instance"
)

// measure runs the load, then one instance after the other.
func (c Command) measure(ctx context.Context, cl *client.Client, agent *noop) (Report, error) {
	r := Report{Instances: c.Instances, Steps: c.Instances * steps, InFlight: c.InFlight, Sync: "always"}
	if c.Sync > 0 {
		r.Sync = c.Sync.String()
	}
	start := time.Now()
	if err := open(ctx, cl, "load", c.Instances, c.InFlight); err != nil {
		return r, err
	}
	if err := agent.wait(ctx, c.Instances); err != nil {
		return r, err
	}
	r.Seconds = time.Since(start).Seconds()
	r.StepsPerS = float64(r.Steps) / r.Seconds
	var err error
	r.StartP50MS, r.StartP99MS, err = alone(ctx, cl, agent, min(c.Instances, 100))
	return r, err
}

// open starts n instances, several at a time.
func open(ctx context.Context, c *client.Client, prefix string, n, parallel int) error {
	var wg sync.WaitGroup
	errs := make(chan error, n)
	slots := make(chan struct{}, parallel)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			_, err := c.Open(ctx, "", "bench", fmt.Sprintf("%s/%d", prefix, i), instance.Issue{Title: "bench"})
			errs <- err
		})
	}
	wg.Wait()
	for range n {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// alone measures the hand-offs of so many instances, one after the other.
func alone(ctx context.Context, c *client.Client, agent *noop, samples int) (p50, p99 float64, err error) {
	agent.watch()
	for i := range samples {
		if err := open(ctx, c, fmt.Sprintf("alone-%d", i), 1, 1); err != nil {
			return 0, 0, err
		}
		if err := agent.wait(ctx, 1); err != nil {
			return 0, 0, err
		}
	}
	all := agent.handoffs()
	slices.Sort(all)
	at := func(q float64) float64 { return float64(all[int(q*float64(len(all)-1))].Microseconds()) / 1000 }
	return at(0.50), at(0.99), nil
}
