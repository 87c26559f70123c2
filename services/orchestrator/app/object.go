package app

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go/jetstream"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/services/orchestrator/api"
)

// objects implements api.Objects in the object store.
type objects struct {
	js    jetstream.JetStream
	store store.Objects
}

// Stat implements api.Objects.
func (o objects) Stat(ctx context.Context, name string) (size uint64, sha256 string, err error) {
	info, err := o.store.GetInfo(ctx, name)
	if err != nil {
		return 0, "", noObject(err)
	}
	sha256, err = store.Digest(info)
	return info.Size, sha256, err
}

// Open implements api.Objects.
func (o objects) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := o.store.Get(ctx, name)
	if err != nil {
		return nil, noObject(err)
	}
	return r, nil
}

// Upload implements api.Objects.
func (o objects) Upload(name string) api.Upload {
	return upload{o.store.Upload(o.js, store.ObjectBucket, name)}
}

type upload struct{ *store.Upload }

// End implements api.Upload.
func (u upload) End(ctx context.Context, sha256 string) error {
	err := u.Upload.End(ctx, sha256)
	if errors.Is(err, store.ErrOtherContent) {
		return fmt.Errorf("%w: %w", api.ErrOtherContent, err)
	}
	return err
}

func noObject(err error) error {
	if errors.Is(err, jetstream.ErrObjectNotFound) || errors.Is(err, jetstream.ErrNameRequired) {
		return api.ErrNoObject
	}
	return err
}
