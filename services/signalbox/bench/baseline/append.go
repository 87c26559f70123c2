package baseline

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// publisher appends each message by itself, the cheapest way there is: many wait
// for their answers at one subscription.
type publisher struct{ js jetstream.JetStream }

func newPublisher(conn *nats.Conn) publisher {
	js, _ := jetstream.New(conn) // without options it cannot fail
	return publisher{js}
}

func (p publisher) append(ctx context.Context, m *nats.Msg) (uint64, error) {
	answer, err := p.js.PublishMsgAsync(m)
	if err != nil {
		return 0, err
	}
	select {
	case ack := <-answer.Ok():
		return ack.Sequence, nil
	case err := <-answer.Err():
		return 0, err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}
