package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// registry finds definitions: by name those of this process, by content hash every one that an instance
// was ever opened with.
type registry struct {
	catalog   *workflow.Catalog
	kv        jetstream.KeyValue
	exchanged func(hash string, err error) // is called for each that was found under a false hash
}

// newRegistry loads the built-in definitions and those in dir, and stores each under its hash. dir may
// be empty. exchanged is called each time that one is found under a hash that is not its own.
func newRegistry(ctx context.Context, kv jetstream.KeyValue, dir string, exchanged func(hash string, err error)) (registry, error) {
	defs, err := workflow.Builtins()
	if err != nil {
		return registry{}, err
	}
	if dir != "" {
		own, err := workflow.LoadDir(os.DirFS(dir))
		if err != nil {
			return registry{}, err
		}
		defs = append(defs, own...)
	}
	for _, d := range defs {
		if err := store.PutDefinition(ctx, kv, d.Hash, d.Source()); err != nil {
			return registry{}, fmt.Errorf("store definition %s: %w", d.Name, err)
		}
	}
	return registry{workflow.NewCatalog(defs...), kv, exchanged}, nil
}

// logExchanged returns a function that counts definitions found under a false hash, and logs each hash once.
func logExchanged(log *slog.Logger, m *metrics) func(hash string, err error) {
	var logged sync.Map
	return func(hash string, err error) {
		m.exchanged.Inc()
		if _, known := logged.LoadOrStore(hash, true); !known {
			log.Error("a definition was exchanged; it is not used, and its instances wait", "error", err)
		}
	}
}

// stored returns every stored definition, since instances may run under any of them. One that this build
// cannot load is logged and left out.
func (r registry) stored(ctx context.Context, js jetstream.JetStream, log *slog.Logger) ([]*workflow.Definition, error) {
	hashes, err := store.ListDefinitions(ctx, js)
	if err != nil {
		return nil, fmt.Errorf("list the definitions: %w", err)
	}
	var all []*workflow.Definition
	for _, hash := range hashes {
		d, err := r.Hashed(ctx, hash)
		if err != nil {
			log.Warn("instances of this definition are stuck: it cannot be loaded", "error", err)
			continue
		}
		all = append(all, d)
	}
	return all, ctx.Err()
}

// Named implements engine.Definitions.
func (r registry) Named(name string) (*workflow.Definition, error) { return r.catalog.Named(name) }

// Hashed implements engine.Definitions.
func (r registry) Hashed(ctx context.Context, hash string) (*workflow.Definition, error) {
	if d, ok := r.catalog.Hashed(hash); ok {
		return d, nil
	}
	entry, err := r.kv.Get(ctx, hash)
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
		err = fmt.Errorf("%w: %w", workflow.ErrUnknown, err)
	}
	if err != nil {
		return nil, fmt.Errorf("definition %s: %w", hash, err)
	}
	d, err := workflow.LoadHashed(hash, entry.Value())
	if errors.Is(err, workflow.ErrFalseHash) {
		r.exchanged(hash, err)
	}
	if err != nil {
		return nil, err
	}
	r.catalog.Keep(d)
	return d, nil
}

// keep makes Hashed find a definition, also in other processes.
func (r registry) keep(ctx context.Context, d *workflow.Definition) error {
	if _, ok := r.catalog.Hashed(d.Hash); ok {
		return nil
	}
	if err := store.PutDefinition(ctx, r.kv, d.Hash, d.Source()); err != nil {
		return fmt.Errorf("store definition %s: %w", d.Name, err)
	}
	r.catalog.Keep(d)
	return nil
}

// Names implements api.Definitions.
func (r registry) Names() []string {
	var names []string
	for _, d := range r.catalog.All() {
		names = append(names, d.Name)
	}
	return names
}

// Source implements api.Definitions.
func (r registry) Source(ctx context.Context, nameOrHash string) ([]byte, string, error) {
	d, err := r.catalog.Named(nameOrHash)
	if err != nil {
		byHash, herr := r.Hashed(ctx, nameOrHash)
		switch {
		case herr != nil && !errors.Is(herr, workflow.ErrUnknown): // it is stored, and cannot be loaded
			return nil, "", herr
		case herr != nil:
			return nil, "", err
		}
		d = byHash
	}
	return d.Source(), d.Hash, nil
}

// roles returns every role that owns a state.
func (r registry) roles() []string {
	var all []string
	for _, d := range r.catalog.All() {
		all = append(all, d.Roles()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
