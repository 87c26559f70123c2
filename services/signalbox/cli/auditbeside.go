package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/subject"
	"github.com/signalbox/signalbox/pkg/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// beside asks what is kept beside a log with holes whose the missing commits
// were. What cannot be asked tells nothing: the audit goes on without it.
func (e *examiner) beside(ctx context.Context, env *term.Env, js jetstream.JetStream, log *store.Survey) {
	counts, err := log.Counts(ctx)
	for id, n := range counts {
		e.checker.Counted(id, n)
	}
	timers, lookErr := store.Look(ctx, js, subject.TimerStream, store.Config{})
	if lookErr == nil {
		lookErr = timers.Read(ctx, 1, func(m store.Message) error {
			var stay struct{ Entered, Seq uint64 }
			t, err := subject.ParseTimer(m.Subject)
			if err == nil && json.Unmarshal(m.Data, &stay) == nil {
				e.checker.Known(t.Instance, stay.Seq)
				e.checker.Known(t.Instance, stay.Entered)
			}
			return nil
		})
	}
	if err = errors.Join(err, lookErr, e.snapshot(ctx, js, log)); err != nil {
		env.Log.Debug("not everything beside the log could be asked", "error", err)
	}
}

// definitions are the built-in ones, and those that are kept by hash.
type definitions struct {
	catalog *workflow.Catalog
	get     func(hash string) ([]byte, error)
	missing map[string]bool
	err     error // why one could not be asked for
}

func newDefinitions(ctx context.Context, js jetstream.JetStream) (*definitions, error) {
	built, err := workflow.Builtins()
	if err != nil {
		return nil, err
	}
	d := &definitions{catalog: workflow.NewCatalog(built...), missing: map[string]bool{}}
	kv, err := js.KeyValue(ctx, store.DefinitionBucket)
	d.get = func(hash string) ([]byte, error) {
		entry, err := kv.Get(ctx, hash)
		if err != nil {
			return nil, err
		}
		return entry.Value(), nil
	}
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		d.get, err = func(string) ([]byte, error) { return nil, jetstream.ErrKeyNotFound }, nil
	}
	return d, err
}

// find is a logcheck.Find. A source that is not what its hash says is none.
func (d *definitions) find(hash string) (*workflow.Definition, bool) {
	if def, ok := d.catalog.Hashed(hash); ok || d.missing[hash] {
		return def, ok
	}
	source, err := d.get(hash)
	if err != nil {
		if d.missing[hash] = true; !errors.Is(err, jetstream.ErrKeyNotFound) && !errors.Is(err, jetstream.ErrInvalidKey) {
			d.err = errors.Join(d.err, fmt.Errorf("definition %s: %w", hash, err))
		}
		return nil, false
	}
	def, err := workflow.Load("definition "+hash, source)
	if err != nil || def.Hash != hash {
		d.missing[hash] = true
		return nil, false
	}
	d.catalog.Keep(def)
	return def, true
}
