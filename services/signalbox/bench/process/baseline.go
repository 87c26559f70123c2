package process

import (
	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/bench/baseline"
)

// Baseline runs the baseline.
type Baseline struct{ host *host }

// BaselineArgs are the arguments of Baseline.Run.
type BaselineArgs struct {
	URL string
	baseline.Order
}

// Run carries out an order. Each half of a step has its own connection.
func (f *Baseline) Run(a BaselineArgs, r *baseline.Result) error {
	var conns [2]*nats.Conn
	for i := range conns {
		link, options := f.host.link(a.URL)
		nc, err := service.Connect(f.host.ctx, link, "baseline", quiet(), options...)
		if err != nil {
			return err
		}
		defer nc.Close()
		conns[i] = nc
	}
	var err error
	*r, err = baseline.Run(f.host.ctx, conns[0], conns[1], a.Order)
	return err
}
