package jetstream

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// DeadStream is the stream of dead letters: the server's advisories about
// commits it gave up delivering and commits a role refused for good. Each names
// the commit by its sequence in the log; subject.ParseDead tells the two apart.
const DeadStream = "DEAD"

// maxDead bounds the dead letters that are kept; the oldest go first.
const maxDead = 100_000

// EnsureDead creates the stream of dead letters, or updates its configuration.
func EnsureDead(ctx context.Context, js jetstream.JetStream, replicas int) (jetstream.Stream, error) {
	replicas, err := Copies(ctx, js, DeadStream, replicas)
	if err != nil {
		return nil, err
	}
	return ensure(ctx, js, jetstream.StreamConfig{
		Name:        DeadStream,
		Description: "Commits that could not be delivered.",
		Subjects:    []string{subject.MaxDeliveries, subject.Terminated},
		Retention:   jetstream.LimitsPolicy,
		Storage:     jetstream.FileStorage,
		MaxMsgs:     maxDead,
		Replicas:    replicas,
	})
}
