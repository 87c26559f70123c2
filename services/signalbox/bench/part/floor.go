package part

import (
	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/bench/floor"
)

// Floor is the raw load in a part.
type Floor struct{ host *host }

// FloorArgs says what is done, and where.
type FloorArgs struct {
	URL string
	floor.Order
}

// Run does it, each half of a step over a connection of its own.
func (f *Floor) Run(a FloorArgs, r *floor.Result) error {
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
	*r, err = floor.Run(f.host.ctx, conns[0], conns[1], a.Order)
	return err
}
