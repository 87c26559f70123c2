package timer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	requestTimeout = 5 * time.Second
	inFlight       = 1000 // timers sent before the first answer is looked at
	tries          = 10   // to store one timer against other processes
)

// change arms and disarms timers.
func (k *Keeper) change(ctx context.Context, arm, drop []Timer) error {
	for some := range slices.Chunk(arm, inFlight) {
		if err := k.arm(ctx, some); err != nil {
			return err
		}
	}
	for _, t := range drop {
		if err := k.disarm(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// arm stores timers, each in place of the instance's present one of its kind.
// Each is stored only if this process knows the present one: a process that lags
// behind must not replace what is newer.
func (k *Keeper) arm(ctx context.Context, timers []Timer) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	futures := make([]jetstream.PubAckFuture, len(timers))
	for i, t := range timers {
		msg, err := encode(t, k.have[t.place()].at)
		if err != nil {
			return err
		}
		if futures[i], err = k.JetStream.PublishMsgAsync(msg); err != nil {
			return fmt.Errorf("arm %s of %s: %w", t.Kind, t.Instance, err)
		}
	}
	for i, t := range timers {
		var err error
		select {
		case ack := <-futures[i].Ok():
			k.hold(t, ack.Sequence)
		case err = <-futures[i].Err():
			err = k.contend(ctx, t, err)
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("arm %s of %s: %w", t.Kind, t.Instance, err)
		}
	}
	return nil
}

func (k *Keeper) hold(t Timer, at uint64) {
	k.have[t.place()] = held{t, at}
	k.Armed()
}

// contend stores a timer of whose present one this process did not know, unless
// that is as good or newer.
func (k *Keeper) contend(ctx context.Context, t Timer, err error) error {
	for range tries {
		switch {
		case err == nil:
			return nil
		case refused(err):
			k.Log.Error("a timer cannot be armed", "instance", t.Instance, "timer", t.Kind, "due", t.Due, "error", err)
			return nil
		case !conflicts(err):
			return err
		}
		present, e := k.last(ctx, t.waits())
		if e != nil {
			return e
		}
		if present.at > 0 && (present.same(t) || present.Seq > t.Seq) {
			k.have[t.place()] = present
			return nil
		}
		msg, e := encode(t, present.at)
		if e != nil {
			return e
		}
		var ack *jetstream.PubAck
		if ack, err = k.JetStream.PublishMsg(ctx, msg); err == nil {
			k.hold(t, ack.Sequence)
		}
	}
	return err
}

// last returns the message at a subject; at is 0 if there is none.
func (k *Keeper) last(ctx context.Context, subj string) (held, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	msg, err := k.stream.GetLastMsgForSubject(ctx, subj)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return held{}, nil
	}
	if err != nil {
		return held{}, err
	}
	t, _ := decode(msg.Subject, msg.Data) // what is no timer is to be replaced
	return held{t, msg.Sequence}, nil
}

// disarm removes the message that is held, and none that came since.
func (k *Keeper) disarm(ctx context.Context, t Timer) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := k.stream.Purge(ctx, jetstream.WithPurgeSubject(t.waits()), jetstream.WithPurgeSequence(k.have[t.place()].at+1))
	if err != nil {
		return fmt.Errorf("disarm %s of %s: %w", t.Kind, t.Instance, err)
	}
	delete(k.have, t.place())
	return nil
}

// unavailable is the code of API errors that pass.
const unavailable = 503

func conflicts(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// refused reports whether the server will never take the message.
func refused(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.Code != unavailable && !conflicts(err)
}
