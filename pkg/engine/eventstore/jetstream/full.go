package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// ErrFull means that the server has no storage left for the log: it reached a limit of the server, of
// the account or of the stream, or its disk is full.
var ErrFull = errors.New("the server has no storage left")

// fullCodes are the codes of API errors that say so: limits of the account (10002), of the server
// (10023, 10047), of memory (10028), and a stream that cannot store (10077).
var fullCodes = [...]jetstream.ErrorCode{10002, 10023, 10028, 10047, 10077}

// fullFor is for how long a refused append says that the storage is full.
const fullFor = time.Minute

// fullness is the newest append that the server refused for want of storage.
type fullness struct{ newest atomic.Pointer[refusedAppend] }

type refusedAppend struct {
	at  time.Time
	err error
}

// note takes the error of an append, nil for one that was stored, and returns it as an
// ErrFull if it is one.
func (f *fullness) note(err error, now time.Time) error {
	var api *jetstream.APIError
	switch {
	case err == nil:
		if f.newest.Load() != nil {
			f.newest.Store(nil)
		}
		return nil
	case errors.As(err, &api) && slices.Contains(fullCodes[:], api.ErrorCode):
		err = fmt.Errorf("%w: %w", ErrFull, err)
	case !errors.Is(err, errMute):
		return err
	}
	f.newest.Store(&refusedAppend{now, err})
	return err
}

// check returns the error of the newest append if that was refused within a minute.
func (f *fullness) check(now time.Time) error {
	if r := f.newest.Load(); r != nil && now.Sub(r.at) < fullFor {
		return fmt.Errorf("an append was refused %s ago: %w", now.Sub(r.at).Round(time.Second), r.err)
	}
	return nil
}

// Full returns why the server stored no more: the newest append was refused for want of
// storage, within a minute. It is nil after an append was stored.
func (s *Store) Full() error { return s.full.check(time.Now()) }

// Usage is how much storage an account of JetStream uses, in bytes.
type Usage struct {
	Used  uint64
	Log   uint64 // of these by the log
	Limit uint64 // of the account; 0: it has none
}

// Part returns the part of the limit that is used; 0 without a limit.
func (u Usage) Part() float64 {
	if u.Limit == 0 {
		return 0
	}
	return float64(u.Used) / float64(u.Limit)
}

// StorageOf returns the usage of storage on disk by the account, that of the fullest tier if it
// has tiers. No account is shown a limit of the server.
func StorageOf(ctx context.Context, js jetstream.JetStream) (Usage, error) {
	info, err := js.AccountInfo(ctx)
	if err != nil {
		return Usage{}, fmt.Errorf("read the limits of the account: %w", err)
	}
	var bytes uint64
	if log, err := js.Stream(ctx, subject.EventStream); err == nil {
		bytes = log.CachedInfo().State.Bytes
	} else if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return Usage{}, fmt.Errorf("read the size of the log: %w", err)
	}
	usage := Usage{Used: info.Store, Log: bytes, Limit: uint64(max(info.Limits.MaxStore, 0))}
	for _, tier := range info.Tiers {
		if one := (Usage{tier.Store, bytes, uint64(max(tier.Limits.MaxStore, 0))}); one.Part() > usage.Part() {
			usage = one
		}
	}
	return usage, nil
}
