package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/base/pacing"
)

// Codes of API errors that pass, and that the client library does not name.
const (
	jetStreamAway      = 10008 // the cluster elects its leader
	duplicateInProcess = 10158 // an earlier try is proposed and not yet stored
	duplicateInBatch   = 10201 // a batch has a message that is stored
)

// errInFlight is a conflict with a commit that is proposed and not yet stored. It
// may be an earlier try of the same append. Only a replicated stream has such.
var errInFlight = errors.New("another append is under way")

// errInMaking means that the cluster is creating the stream for another process.
var errInMaking = errors.New("the stream is being made")

// errMute means that a server answers all requests but appends.
var errMute = errors.New("the server answers and does not store: if its disk is full, make room and restart it")

// unanswered reports whether a request got no answer in time.
func unanswered(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
}

// conflicts reports whether the server refused a message because the expected
// sequence was not the instance's last. A replicated stream has two codes for it.
func conflicts(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// refused reports whether the server refused a whole batch because of one message.
func refused(err error) bool {
	var api *jetstream.APIError
	return conflicts(err) || errors.As(err, &api) && api.ErrorCode == duplicateInBatch
}

func tooLarge(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, nats.ErrMaxPayload) ||
		errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamMessageExceedsMaximum
}

// passing reports whether a request may be repeated: the server was out of reach,
// may come back, and may or may not have received it. A closed connection never
// comes back.
func passing(err error) bool {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return api.ErrorCode == jetStreamAway || api.ErrorCode == duplicateInProcess
	}
	for _, e := range []error{
		errInFlight, errBlocked, errInMaking, errLost, jetstream.ErrNoHeartbeat, context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders,
		jetstream.ErrNoStreamResponse,
		nats.ErrConnectionReconnecting, nats.ErrDisconnected, nats.ErrStaleConnection, nats.ErrReconnectBufExceeded,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// retry calls try, each time with the given timeout, until it succeeds, fails with
// an error that does not pass, or ctx ends.
func retry[T any](ctx context.Context, timeout time.Duration, try func(context.Context) (T, error)) (T, error) {
	v, last := once(ctx, timeout, try)
	if last == nil || !passing(last) {
		return v, last
	}
	first := true
	v, err := backoff.Retry(ctx, func() (T, error) {
		if first {
			first = false
			return v, last
		}
		v, err := once(ctx, timeout, try)
		if last = err; err != nil && !passing(err) {
			err = backoff.Permanent(err)
		}
		return v, err
	}, backoff.WithBackOff(pacing.Backoff(50*time.Millisecond, 2*time.Second)), backoff.WithMaxElapsedTime(0))
	if err != nil && !errors.Is(last, err) {
		err = fmt.Errorf("%w; until then: %w", err, last)
	}
	return v, leaderless(err)
}

func once[T any](ctx context.Context, timeout time.Duration, try func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return try(ctx)
}
