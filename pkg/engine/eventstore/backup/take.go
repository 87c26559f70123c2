package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/seal"
)

// ErrOther is a directory with something else than a backup of the log.
var ErrOther = errors.New("not a backup of this log")

// Added is what one backup wrote.
type Added struct {
	Manifest
	From    uint64 // the first sequence that was new; above Last: none was
	Objects int    // that were new
}

// Take writes a backup of the log that was looked at to dir, or adds to the one
// that is there what came since. A log that is damaged is refused, and leaves
// the backup as it was. The log goes on meanwhile: what comes later is not in it. sealed is the seal of the log, which the
// log has to fit; empty: the backup keeps the one that it has.
func Take(ctx context.Context, js natsjs.JetStream, log *jetstream.AuditReader, dir string, sealed []byte, now time.Time) (Added, error) {
	p := new(progress)
	if len(sealed) > 0 {
		var err error
		if p.seal.Seal, err = seal.Parse(sealed, ""); err != nil {
			return Added{}, fmt.Errorf("the seal: %w", err)
		}
	}
	m, p, err := begin(dir, p)
	if err != nil {
		return Added{}, err
	}
	if err := fits(ctx, log, m, p); err != nil {
		return Added{}, err
	}
	added := Added{From: m.Last + 1}
	m.Format, m.Stream, m.Identity, m.Made = Format, log.Stream, log.Identity, now.UTC()
	m.Metadata = maps.Clone(log.Metadata())
	maps.DeleteFunc(m.Metadata, func(key, _ string) bool { return strings.HasPrefix(key, "_nats.") }) // the server's own
	// Queues first, the log next, objects last: what is done with is in the log, and what the log names is an object.
	if m.Queues, err = log.Queues(ctx); err != nil {
		return added, fmt.Errorf("list the queues: %w", err)
	}
	if err := m.commits(ctx, log, p, dir); err != nil {
		return added, err
	}
	if err := p.seal.End(); err != nil {
		return added, fmt.Errorf("%w: %w", eventstore.ErrCorrupt, err)
	}
	if m.Buckets, err = buckets(ctx, js, dir); err != nil {
		return added, err
	}
	if m.Objects, added.Objects, err = objects(ctx, js, dir, m.Objects); err != nil {
		return added, err
	}
	if len(sealed) > 0 {
		if err := m.keepSeal(dir, p.seal.Seal, sealed); err != nil {
			return added, err
		}
	}
	added.Manifest = m
	return added, m.save(dir)
}

// keepSeal writes the seal to the backup.
func (m *Manifest) keepSeal(dir string, s seal.Seal, text []byte) error {
	f, err := write(dir, fmt.Sprintf("seal/%d.json", s.Seq), func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
	m.Seal = &Sealed{f, s.Seq, s.Key}
	return err
}

// begin reads the backup that is in dir, if one is, and checks all of it.
func begin(dir string, p *progress) (Manifest, *progress, error) {
	m, p, err := verify(dir, p)
	if !errors.Is(err, fs.ErrNotExist) {
		return m, p, err
	}
	there, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, p, err
	}
	for _, f := range there {
		if n := f.Name(); n != "log" && n != "bucket" && n != "object" && n != "seal" { // left by a backup that did not end
			return m, p, fmt.Errorf("%w: %s has no %s, and there is %s", ErrOther, dir, manifestFile, n)
		}
	}
	return Manifest{}, p, os.MkdirAll(dir, 0o700)
}

// fits returns why the log does not go on where the backup ends.
func fits(ctx context.Context, log *jetstream.AuditReader, m Manifest, p *progress) error {
	switch {
	case log.Fault != nil:
		return log.Fault
	case log.Identity == "":
		return fmt.Errorf("%w: stream %s has no metadata %s; give a mirror that of the log", ErrOther, log.Stream, jetstream.Identity)
	case log.Last < log.Expected:
		return fmt.Errorf("%w: it ends at %d, and reached %d by its watermark (%s)",
			eventstore.ErrCorrupt, log.Last, log.Expected, log.WatermarkName)
	case m.Last == 0:
		return nil
	case log.Identity != m.Identity:
		return fmt.Errorf("%w: it is of the log %s, and this one is %s", ErrOther, m.Identity, log.Identity)
	case log.Last < m.Last:
		return fmt.Errorf("%w: the log ends at %d, and the backup at %d", ErrOther, log.Last, m.Last)
	}
	same := false
	err := log.Read(ctx, m.Last, func(f jetstream.Message) error {
		c, err := f.Commit()
		same = err == nil && c.Seq == m.Last && c.ID == p.newest.ID && c.Chain == p.newest.Chain
		return errEnough
	})
	switch {
	case err != nil && !errors.Is(err, errEnough):
		return err
	case !same:
		return fmt.Errorf("%w: sequence %d is another commit than in the backup", ErrOther, m.Last)
	}
	return nil
}

var errEnough = errors.New("enough")

// commits adds what came to the log since, in chunks.
func (m *Manifest) commits(ctx context.Context, log *jetstream.AuditReader, p *progress, dir string) error {
	var out *chunkWriter
	err := log.Read(ctx, m.Last+1, func(f jetstream.Message) (err error) {
		if err := p.add(f); err != nil {
			return err
		}
		if out == nil {
			if out, err = newChunk(dir, f.Seq); err != nil {
				return err
			}
		}
		full, err := out.put(f)
		if err == nil && full {
			m.Chunks, err = out.end(m.Chunks)
			out = nil
		}
		return err
	})
	if err == nil && p.next != log.Last {
		err = fmt.Errorf("%w: sequences %d to %d are missing", eventstore.ErrCorrupt, p.next+1, log.Last)
	}
	if err == nil && out != nil {
		m.Chunks, err = out.end(m.Chunks)
		out = nil
	}
	if out != nil {
		err = errors.Join(err, out.drop())
	}
	if err != nil {
		return err
	}
	m.Last, m.Head = p.next, p.hash()
	return nil
}
