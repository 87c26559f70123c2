package host

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func TestAnIdleAgentNamesAnOrchestratorThatIsAwayWithinAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answer error
		w := &orchestratorWatch{ask: func(context.Context) error { return answer }}
		registry := prometheus.NewRegistry()
		w.register(registry, "developer")
		up := func() float64 {
			all, err := registry.Gather()
			if err != nil || len(all) != 1 {
				t.Fatal(all, err)
			}
			return all[0].GetMetric()[0].GetGauge().GetValue()
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = w.run(ctx) }()
		for _, step := range []struct {
			answer error
			up     float64
		}{{nil, 1}, {errors.New("no responders"), 0}, {nil, 1}} {
			answer = step.answer
			time.Sleep(time.Minute)
			synctest.Wait()
			if err := w.check(ctx); up() != step.up || (err == nil) != (step.up == 1) {
				t.Errorf("when the orchestrator answers %v, the gauge is %v and the warning %v", step.answer, up(), err)
			}
		}
		cancel()
		synctest.Wait()
	})
}
