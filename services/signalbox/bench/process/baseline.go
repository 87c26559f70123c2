package process

import (
	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/bench/baseline"
)

// Baseline is the raw load in a part.
type Baseline struct{ host *host }

// BaselineArgs says what is done, and where.
type BaselineArgs struct {
	URL string
	baseline.Order
}

// Run does it, each half of a step over a connection of its own.
func (f *Baseline) Run(a BaselineArgs, r *baseline.Result) error {
	var conns [2]*nats.Conn
	for i := range conns {
		link, options := f.host.link(a.URL)
		nc, err := service.Connect(f.host.ctx, link, "floor", quiet(), options...)
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
