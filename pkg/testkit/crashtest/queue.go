package crashtest

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// waitDrained waits until the queues of the service are empty and acknowledged.
func (s *Env) waitDrained(ctx context.Context) error {
	for _, queue := range s.Service.Queues {
		if err := natstest.Drained(ctx, s.JS, subject.EventStream, queue); err != nil {
			return err
		}
	}
	return nil
}

// redeliver has all delivered and unacknowledged messages redelivered, also those that
// never arrived. The server does not tell which these are. It accepts a NAK by the
// subject of the acknowledgement (ADR-15 of NATS), and ignores one for any other message.
func (s *Env) redeliver(queue string) error {
	consumer, err := s.JS.Consumer(s.Ctx, subject.EventStream, queue)
	if err != nil {
		return err
	}
	info := consumer.CachedInfo()
	for seq := info.AckFloor.Stream + 1; seq <= info.Delivered.Stream && err == nil; seq++ {
		err = s.nc.Publish(fmt.Sprintf("%s%s.%s.1.%d.%d.%d.0", ackPrefix, subject.EventStream, queue, seq, info.Delivered.Consumer,
			time.Now().UnixNano()), []byte("-NAK"))
	}
	return err
}
