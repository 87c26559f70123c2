package api_test

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/eventstore"
)

// attended is a log in memory that says below an inbox what it stored.
type attended struct {
	eventstore.Store
	nc   *nats.Conn
	n    atomic.Int32 // appends before witnesses
	sent func()       // an append before a witness is on its way
	fail func() error // the next append before a witness
}

func (s *attended) Append(ctx context.Context, c eventstore.Commit) (seq uint64, err error) {
	by := c.Witness
	if by == nil {
		return s.Store.Append(ctx, c)
	}
	at := fmt.Sprintf("log.%d", s.n.Add(1))
	knows := by.Sent(at)
	if s.sent != nil {
		s.sent()
	}
	if fail := s.fail; fail != nil {
		s.fail = nil
		return 0, fail()
	}
	if seq, err = s.Store.Append(ctx, c); err == nil {
		if knows {
			by.Heard = at
		}
		err = s.nc.Publish(by.Inbox+"."+at, fmt.Appendf(nil, `{"stream":"EVENTS","seq":%d}`, seq))
	}
	return seq, err
}
