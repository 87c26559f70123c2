package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// Output is the newest output of a piece of work that is under way.
type Output struct {
	Version uint64 `json:"version"` // it grows with the output
	Text    string `json:"text"`    // empty: nothing is newer than the version that was asked about
	Lost    int64  `json:"lost"`    // bytes before Text that are not kept
}

// ErrNoOutput means that no agent answers with the output of a claim: the work has ended, the agent is of an earlier version, or the
// accounts of NATS do not permit it.
var ErrNoOutput = errors.New("no agent answers with its output")

// Live returns the output of the work under a claim, if it is newer than the version after.
func (c *Client) Live(ctx context.Context, role string, token uint64, instance string, after uint64) (Output, error) {
	to, err := subject.Live(role, token, instance)
	if err != nil {
		return Output{}, err
	}
	ask, err := json.Marshal(Output{Version: after})
	if err != nil {
		return Output{}, err
	}
	m, err := c.nc.RequestWithContext(ctx, to, ask)
	if err != nil {
		return Output{}, fmt.Errorf("%w: %w", ErrNoOutput, err)
	}
	var out Output
	if err := json.Unmarshal(m.Data, &out); err != nil {
		return out, fmt.Errorf("%w: %w", ErrNoOutput, err)
	}
	return out, nil
}

// ServeLive answers Live for a claim until stop is called. newest returns the output that is newer than a version; it is called by one
// goroutine.
func (c *Client) ServeLive(role string, token uint64, instance string, newest func(after uint64) Output) (stop func(), err error) {
	on, err := subject.Live(role, token, instance)
	if err != nil {
		return func() {}, err
	}
	sub, err := c.nc.Subscribe(on, func(m *nats.Msg) {
		var ask Output
		if json.Unmarshal(m.Data, &ask) != nil {
			return // a foreign message
		}
		if reply, err := json.Marshal(newest(ask.Version)); err == nil {
			_ = m.Respond(reply) // who asks asks again
		}
	})
	if err != nil {
		return func() {}, err
	}
	return func() { _ = sub.Unsubscribe() }, nil // it fails on a closed connection only
}
