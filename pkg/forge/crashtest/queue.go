package crashtest

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/subject"
)

// drained waits until all there was for the service to do is done.
func (s *Stage) drained(ctx context.Context) error {
	for _, queue := range s.Service.Queues {
		if err := natstest.Drained(ctx, s.JS, subject.EventStream, queue); err != nil {
			return err
		}
	}
	return nil
}

// reclaim has all that was handed out and not settled handed out again, also what
// never arrived. Only the server knows that, and does not tell; but it takes any
// message back that is, by an acknowledgement's subject (ADR-15 of NATS), and
// heeds none that is not.
func (s *Stage) reclaim(queue string) error {
	consumer, err := s.JS.Consumer(s.Ctx, subject.EventStream, queue)
	if err != nil {
		return err
	}
	info := consumer.CachedInfo()
	for seq := info.AckFloor.Stream + 1; seq <= info.Delivered.Stream && err == nil; seq++ {
		err = s.nc.Publish(fmt.Sprintf("%s%s.%s.1.%d.%d.%d.0", acks, subject.EventStream, queue, seq, info.Delivered.Consumer, time.Now().UnixNano()), []byte("-NAK"))
	}
	return err
}
