package whatif

import (
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Shelf keeps data outside memory. It is safe for concurrent use.
type Shelf interface {
	Put(data []byte) (at int64, err error)
	Get(at int64, size int) ([]byte, error)
}

// shelved is the place of an instance on a shelf.
type shelved struct {
	at   int64
	size int
}

// shelve puts an instance that has ended on the shelf: most of a long log have ended, each with all its texts. After a
// difference nothing is decided any more, and it drops the instance. One that the shelf does not take stays in memory.
func (r *Run) shelve(to Shelf) {
	if r.decided {
		r.in = nil
	}
	if r.decided || to == nil || r.in.Closed == "" {
		return
	}
	data, err := proto.Marshal(wire.Live(*r.in))
	if err != nil {
		return
	}
	if at, err := to.Put(data); err == nil {
		r.in, r.shelved = nil, shelved{at, len(data)}
	}
}

// take takes the instance from the shelf.
func (r *Run) take(from Shelf) error {
	if r.in != nil || r.decided {
		return nil
	}
	data, err := from.Get(r.shelved.at, r.shelved.size)
	if err != nil {
		return err
	}
	live := new(pb.LiveInstance)
	if err := proto.Unmarshal(data, live); err != nil {
		return err
	}
	in := wire.ToLive(live)
	r.in = &in
	return nil
}
