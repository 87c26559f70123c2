package jetstream

import (
	"context"

	"github.com/nats-io/nats.go"
)

// Tamper lets f do what it likes with what is sent to the log.
func (s *Store) Tamper(f func(send func() (*nats.Msg, error)) (*nats.Msg, error)) {
	send := s.send
	s.send = func(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
		return f(func() (*nats.Msg, error) { return send(ctx, m) })
	}
}
