package floor

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// publisher appends each message by itself.
type publisher struct{ js jetstream.JetStream }

func newPublisher(conn *nats.Conn) publisher {
	js, _ := jetstream.New(conn) // without options it cannot fail
	return publisher{js}
}

func (p publisher) append(ctx context.Context, m *nats.Msg) (uint64, error) {
	ack, err := p.js.PublishMsg(ctx, m)
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}
