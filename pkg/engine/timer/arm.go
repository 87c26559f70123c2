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
	inFlight       = 1000 // messages sent before the first acknowledgement is awaited
	maxAttempts    = 10   // attempts to store one timer after conflicts
)

// armAndDisarm stores and removes timers.
func (k *Keeper) armAndDisarm(ctx context.Context, arm, drop []Timer) error {
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

// arm stores timers, each in place of the instance's current one of its kind. The
// server refuses a timer if this process does not know the current one: a process
// that lags must not replace a newer timer.
func (k *Keeper) arm(ctx context.Context, timers []Timer) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	futures := make([]jetstream.PubAckFuture, len(timers))
	for i, t := range timers {
		msg, err := encode(t, k.known[t.key()].streamSeq)
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
			k.setArmed(t, ack.Sequence)
		case err = <-futures[i].Err():
			err = k.armAgain(ctx, t, err)
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("arm %s of %s: %w", t.Kind, t.Instance, err)
		}
	}
	return nil
}

func (k *Keeper) setArmed(t Timer, at uint64) {
	k.known[t.key()] = stored{t, at}
	k.Armed()
}

// armAgain stores a timer after a conflict, unless the current one is the same or
// newer.
func (k *Keeper) armAgain(ctx context.Context, t Timer, err error) error {
	for range maxAttempts {
		switch {
		case err == nil:
			return nil
		case refused(err):
			k.Log.Error("a timer cannot be armed", "instance", t.Instance, "timer", t.Kind, "due", t.Due, "error", err)
			return nil
		case !conflicts(err):
			return err
		}
		present, e := k.current(ctx, t.armedSubject())
		if e != nil {
			return e
		}
		if present.streamSeq > 0 && (present.same(t) || present.Commit > t.Commit) {
			k.known[t.key()] = present
			return nil
		}
		msg, e := encode(t, present.streamSeq)
		if e != nil {
			return e
		}
		var ack *jetstream.PubAck
		if ack, err = k.JetStream.PublishMsg(ctx, msg); err == nil {
			k.setArmed(t, ack.Sequence)
		}
	}
	return err
}

// current returns the newest timer at a subject; its seq is 0 if there is none.
func (k *Keeper) current(ctx context.Context, subj string) (stored, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	msg, err := k.stream.GetLastMsgForSubject(ctx, subj)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return stored{}, nil
	}
	if err != nil {
		return stored{}, err
	}
	t, _ := decode(msg.Subject, msg.Data) // a message that is no timer is replaced
	return stored{t, msg.Sequence}, nil
}

// disarm removes the known message of a timer, and no newer one.
func (k *Keeper) disarm(ctx context.Context, t Timer) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := k.stream.Purge(ctx, jetstream.WithPurgeSubject(t.armedSubject()), jetstream.WithPurgeSequence(k.known[t.key()].streamSeq+1))
	if err != nil {
		return fmt.Errorf("disarm %s of %s: %w", t.Kind, t.Instance, err)
	}
	delete(k.known, t.key())
	return nil
}

// unavailable is the code of temporary API errors.
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
