package agent

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/client"
)

// Door is the object store as the orchestrator answers for it. An agent reads what the
// instance of its claim refers to, and puts objects under that claim. The claim is that of
// the context that Handler.Work is called with. Its errors wrap brain.ErrInfrastructure.
type Door struct{ Client *client.Client }

// holderKey is the context's key of the claim that a handler works under.
type holderKey struct{}

// WithHolder returns a context for work under a claim.
func WithHolder(ctx context.Context, h client.Holder) context.Context {
	return context.WithValue(ctx, holderKey{}, h)
}

var errNoHolder = errors.New("objects are read and put under a claim, and there is none")

func holder(ctx context.Context) (client.Holder, error) {
	h, ok := ctx.Value(holderKey{}).(client.Holder)
	if !ok {
		return h, errNoHolder
	}
	return h, nil
}

// Put stores the object, unless there is one of its name.
func (d Door) Put(ctx context.Context, name string, r io.Reader) error {
	h, err := holder(ctx)
	if err == nil {
		err = d.Client.PutObject(ctx, h, name, r)
	}
	if err != nil {
		return fmt.Errorf("%w: put object %s: %w", brain.ErrInfrastructure, name, err)
	}
	return nil
}

// Get opens the object. Read it within ctx.
func (d Door) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	h, err := holder(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: get object %s: %w", brain.ErrInfrastructure, name, err)
	}
	r, err := d.Client.GetObject(ctx, h, name)
	if err != nil {
		return nil, fmt.Errorf("%w: get object %s: %w", brain.ErrInfrastructure, name, err)
	}
	return r, nil
}

// Has implements workspace.Prober.
func (d Door) Has(ctx context.Context, name string) (bool, error) {
	h, err := holder(ctx)
	if err != nil {
		return false, err
	}
	return d.Client.HasObject(ctx, h, name)
}

// Attest has the orchestrator sign a statement on a commit of the work, which is given as git stores it. It
// returns the envelope, and the name of the object that keeps it.
func (d Door) Attest(ctx context.Context, commit []byte) (envelope []byte, object string, err error) {
	h, err := holder(ctx)
	if err != nil {
		return nil, "", err
	}
	return d.Client.Attest(ctx, h, commit)
}
