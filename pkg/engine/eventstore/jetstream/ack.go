package jetstream

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// ack is the server's answer to a message that is to be stored.
type ack struct {
	Error     *jetstream.APIError `json:"error"`
	Stream    string              `json:"stream"`
	Seq       uint64              `json:"seq"`
	Duplicate bool                `json:"duplicate"`
	Batch     string              `json:"batch"`
	Count     int                 `json:"count"`
}

// request publishes a message to the log and returns the server's
// acknowledgement. Unlike the client library it does not parse JSON for the usual
// acknowledgement, which is a sequence only.
func (s *Store) request(ctx context.Context, m *nats.Msg) (ack, error) {
	answer, err := s.send(ctx, m)
	if err != nil {
		return ack{}, err
	}
	if seq, ok := subject.Stored(answer.Data); ok {
		return ack{Stream: subject.EventStream, Seq: seq}, nil
	}
	var a ack
	if err := json.Unmarshal(answer.Data, &a); err != nil {
		return ack{}, fmt.Errorf("%w: %w", jetstream.ErrInvalidJSAck, err)
	}
	switch {
	case a.Error != nil:
		return ack{}, a.Error
	case a.Stream != subject.EventStream || a.Seq == 0:
		return ack{}, fmt.Errorf("%w: %.200q", jetstream.ErrInvalidJSAck, answer.Data)
	}
	return a, nil
}
