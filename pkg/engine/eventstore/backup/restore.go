package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
)

// Restored is what one restore did.
type Restored struct {
	Manifest
	Found uint64 // commits that an interrupted restore had written before
}

// Restore makes the log from a backup, with the same messages at the same
// sequences, and all that goes with it. All of the backup is checked before the
// first write. It takes a server without a log, or one where a restore of the
// same backup was interrupted, which goes on; otherwise jetstream.ErrNotEmpty.
// jetstream.ErrLoss: the watermark knows of more than the backup has; lossy takes
// it nevertheless. Until it is done no orchestrator opens the log.
func Restore(ctx context.Context, js natsjs.JetStream, dir string, c jetstream.Config, lossy bool) (Restored, error) {
	m, err := Verify(dir)
	if err != nil {
		return Restored{}, err
	}
	log, err := jetstream.Rebuild(ctx, js, c, jetstream.Origin{Metadata: m.Metadata, Head: m.Head, Last: m.Last, Lossy: lossy})
	if err != nil {
		return Restored{}, err
	}
	r := Restored{m, log.Last}
	if err := m.goesOn(ctx, js, dir, log.Last); err != nil {
		return r, err
	}
	if err := m.commitsTo(ctx, dir, log); err != nil {
		return r, err
	}
	if err := m.bucketsTo(ctx, js, dir, c.Replicas); err != nil {
		return r, err
	}
	if err := m.objectsTo(ctx, js, dir, c.Replicas); err != nil {
		return r, err
	}
	for _, q := range m.Queues {
		if err := log.Queue(ctx, q.Role, q.Filters, min(q.Done, m.Last)); err != nil {
			return r, err
		}
	}
	if err := m.readBack(ctx, js); err != nil {
		return r, err
	}
	return r, log.End(ctx)
}

// goesOn returns why the rest of an interrupted restore is not the backup's beginning.
func (m Manifest) goesOn(ctx context.Context, js natsjs.JetStream, dir string, last uint64) error {
	if last == 0 {
		return nil
	}
	reader, err := jetstream.OpenAuditReader(ctx, js, "", jetstream.Config{})
	if err != nil {
		return err
	}
	there, here := new(progress), new(progress)
	if err := reader.Read(ctx, 1, there.add); err != nil {
		return err
	}
	err = m.messages(dir, 1, func(f jetstream.Message) error {
		if here.next == last {
			return errEnough
		}
		return here.add(f)
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if there.next != last || there.hash() != here.hash() {
		return fmt.Errorf("%w: the log there is not the beginning of the backup", jetstream.ErrNotEmpty)
	}
	return nil
}

// window is how many messages are sent before the first answer is looked at.
const window = 500

func (m Manifest) commitsTo(ctx context.Context, dir string, log *jetstream.Rebuilding) error {
	var some []jetstream.Message
	busy := map[string]bool{} // a replicated log takes the next one of an instance only after the last one
	flush := func() error {
		err := log.Put(ctx, some)
		some = some[:0]
		clear(busy)
		return err
	}
	err := m.messages(dir, log.Last+1, func(f jetstream.Message) error {
		c, err := f.Commit()
		if err != nil {
			return err
		}
		if c.Foreign != nil { // alone: it may be on any instance's subjects
			err = flush()
			some = append(some, f)
			return errors.Join(err, flush())
		}
		if busy[c.Instance] || len(some) == window {
			if err := flush(); err != nil {
				return err
			}
		}
		some, busy[c.Instance] = append(some, f), true
		return nil
	})
	return errors.Join(err, flush())
}

func (m Manifest) bucketsTo(ctx context.Context, js natsjs.JetStream, dir string, replicas int) error {
	for _, b := range m.Buckets {
		kv, err := js.KeyValue(ctx, b.Name)
		switch {
		case b.Name == jetstream.DefinitionBucket:
			kv, err = jetstream.EnsureDefinitions(ctx, js, replicas)
		case errors.Is(err, natsjs.ErrBucketNotFound):
			kv, err = js.CreateKeyValue(ctx, natsjs.KeyValueConfig{Bucket: b.Name, Replicas: max(replicas, 1)})
		}
		if err == nil {
			err = each(dir, b.File, func(e entry) error {
				_, err := kv.Put(ctx, e.Key, e.Value)
				return err
			})
		}
		if err != nil {
			return fmt.Errorf("bucket %s: %w", b.Name, err)
		}
	}
	return nil
}

func (m Manifest) objectsTo(ctx context.Context, js natsjs.JetStream, dir string, replicas int) error {
	if len(m.Objects) == 0 {
		return nil
	}
	store, err := jetstream.EnsureObjects(ctx, js, replicas)
	if err != nil {
		return err
	}
	for _, o := range m.Objects {
		if info, err := store.GetInfo(ctx, o.Name); err == nil {
			if sum, err := jetstream.Digest(info); err == nil && sum == o.SHA256 {
				continue
			}
		}
		f, err := os.Open(filepath.Join(dir, o.Path))
		if err != nil {
			return err
		}
		_, err = store.Put(ctx, natsjs.ObjectMeta{Name: o.Name}, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("object %s: %w", o.Name, err)
		}
	}
	return nil
}

// readBack holds the log that was made against the backup.
func (m Manifest) readBack(ctx context.Context, js natsjs.JetStream) error {
	log, err := jetstream.OpenAuditReader(ctx, js, "", jetstream.Config{})
	if err != nil {
		return err
	}
	p := new(progress)
	if err := log.Read(ctx, 1, p.add); err != nil {
		return err
	}
	if p.next != m.Last || p.hash() != m.Head {
		return fmt.Errorf("%w: read back, it has %d commits with the head hash %s, want %d with %s",
			eventstore.ErrCorrupt, p.next, p.hash(), m.Last, m.Head)
	}
	return nil
}
