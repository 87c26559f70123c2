package jetstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/subject"
)

// ErrNoMajority says that of the NATS servers which keep the log too few are
// there, or that they have not agreed yet on who leads: nothing is stored until
// then. It passes by itself when they are back.
var ErrNoMajority = errors.New("no majority of the NATS servers that keep the log is there, or it has not chosen its leader yet; nothing is stored until then")

// Majority returns ErrNoMajority, with who is missing, if too few of the servers
// that keep the log are there. A server alone is a majority. Whoever cannot be
// asked is another error.
func Majority(ctx context.Context, js jetstream.JetStream) error {
	stream, err := js.Stream(ctx, subject.EventStream)
	if err != nil {
		return leaderless(fmt.Errorf("look at stream %s: %w", subject.EventStream, err))
	}
	return majority(stream.CachedInfo())
}

func majority(info *jetstream.StreamInfo) error {
	c := info.Cluster
	if c == nil {
		return nil
	}
	if c.Leader == "" {
		return ErrNoMajority
	}
	var missing []string
	for _, r := range c.Replicas {
		if r.Offline {
			missing = append(missing, r.Name)
		}
	}
	if all := len(c.Replicas) + 1; 2*(all-len(missing)) <= all {
		return fmt.Errorf("%w: of %d servers %v are away", ErrNoMajority, all, missing)
	}
	return nil
}

// leaderless names the reason of an error that a cluster without a leader gives.
func leaderless(err error) error {
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == jetStreamAway && !errors.Is(err, ErrNoMajority) {
		return fmt.Errorf("%w: %w", ErrNoMajority, err)
	}
	return err
}
