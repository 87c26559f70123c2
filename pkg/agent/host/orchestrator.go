package host

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// orchestratorEvery is how often an agent asks whether an orchestrator answers.
	orchestratorEvery = 15 * time.Second
	// orchestratorTimeout is how long it waits for the answer.
	orchestratorTimeout = 5 * time.Second
)

// errNoOrchestrator is a warning of /readyz.
var errNoOrchestrator = errors.New("no orchestrator answers: work that is under way goes on, and nothing new is given out; start one, or look at its log")

// orchestratorWatch finds out whether an orchestrator answers. An idle agent sends it nothing
// else, and so would look healthy.
type orchestratorWatch struct {
	ask    func(ctx context.Context) error
	silent atomic.Bool
}

// register adds the gauge of the agent of a role.
func (w *orchestratorWatch) register(r prometheus.Registerer, role string) {
	prometheus.WrapRegistererWith(prometheus.Labels{"role": role}, r).MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "signalbox_agent_orchestrator_up", Help: "1 while an orchestrator answers this agent, else 0."}, func() float64 {
		if w.silent.Load() {
			return 0
		}
		return 1
	}))
}

// run asks until ctx ends.
func (w *orchestratorWatch) run(ctx context.Context) error {
	tick := time.NewTicker(orchestratorEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.look(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// look asks once.
func (w *orchestratorWatch) look(ctx context.Context) {
	one, cancel := context.WithTimeout(ctx, orchestratorTimeout)
	defer cancel()
	if err := w.ask(one); ctx.Err() == nil {
		w.silent.Store(err != nil)
	}
}

// check returns an error while no orchestrator answers.
func (w *orchestratorWatch) check(context.Context) error {
	if w.silent.Load() {
		return errNoOrchestrator
	}
	return nil
}
