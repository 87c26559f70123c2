package jetstream

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// timerWait is the time after which a timer that is due and not acknowledged is
// delivered again.
const timerWait = 5 * time.Second

// EnsureTimers creates the stream of durable timers and the consumer of those
// that are due. It is a stream of its own: one that schedules messages cannot
// refuse purges, so the log may not be one. Each timer has one message, which
// waits or is due; the consumer never gives up on one. A stream on one server
// does not flush each message: what a crash loses is armed again from the log.
func EnsureTimers(ctx context.Context, js jetstream.JetStream, replicas int) (jetstream.Stream, error) {
	replicas, err := Copies(ctx, js, subject.TimerStream, replicas)
	if err != nil {
		return nil, err
	}
	config := jetstream.StreamConfig{
		Name:              subject.TimerStream,
		Description:       "Durable timers of stays in a state.",
		Subjects:          []string{subject.Timers},
		Retention:         jetstream.LimitsPolicy,
		Storage:           jetstream.FileStorage,
		Replicas:          replicas,
		MaxMsgsPerSubject: 1,
		AllowRollup:       true,
		AllowMsgSchedules: true,
	}
	if config.Replicas == 1 {
		config.PersistMode = jetstream.AsyncPersistMode
	}
	stream, err := ensure(ctx, js, config)
	if err != nil {
		return nil, err
	}
	_, err = stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable:        subject.TimerConsumer,
		Description:    "Timers that are due.",
		DeliverPolicy:  jetstream.DeliverAllPolicy,
		AckPolicy:      jetstream.AckExplicitPolicy,
		AckWait:        timerWait,
		MaxDeliver:     -1,
		MaxAckPending:  1000,
		FilterSubjects: []string{subject.FiredTimers},
	})
	if err != nil {
		return nil, fmt.Errorf("ensure consumer %s: %w", subject.TimerConsumer, err)
	}
	return stream, nil
}
