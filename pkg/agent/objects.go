package agent

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent/brain"
)

// Objects is the NATS object store as agents use it. Names are content addresses,
// so Put is idempotent. Its errors wrap brain.ErrInfrastructure.
type Objects struct{ Store jetstream.ObjectStore }

// Put stores the object.
func (o Objects) Put(ctx context.Context, name string, r io.Reader) error {
	if _, err := o.Store.Put(ctx, jetstream.ObjectMeta{Name: name}, r); err != nil {
		return fmt.Errorf("%w: put object %s: %w", brain.ErrInfrastructure, name, err)
	}
	return nil
}

// Get opens the object.
func (o Objects) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := o.Store.Get(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, fmt.Errorf("%w: object %s is not in the store", brain.ErrInfrastructure, name)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: get object %s: %w", brain.ErrInfrastructure, name, err)
	}
	return r, nil
}
