package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/seal"
)

// progress is what is known of a log as it is read from its beginning.
type progress struct {
	next    uint64
	chains  eventstore.Verifier
	head    [sha256.Size]byte
	newest  eventstore.Commit
	foreign int // messages that are no commits: they go with the log, at their sequences
	seal    seal.Follower
}

// add checks the next message of the log. One that is no commit is set aside.
func (p *progress) add(m jetstream.Message) error {
	if m.Seq != p.next+1 {
		return fmt.Errorf("%w: sequence %d comes after %d", eventstore.ErrCorrupt, m.Seq, p.next)
	}
	c, err := m.Commit()
	if err != nil {
		return err
	}
	if c.Foreign != nil {
		p.foreign++
	} else if err := p.chains.Add(c); err != nil {
		return err
	}
	p.seal.Add(m.Seq, c, true, m.Subject, m.Data)
	p.head = sha256.Sum256(append(p.head[:], c.Chain...))
	p.next, p.newest = m.Seq, c
	return nil
}

// hash is the head hash of what was added.
func (p *progress) hash() string { return hex.EncodeToString(p.head[:]) }

// Verify checks a backup: every file against its hash, every commit against its
// instance's chain, all of them against the head hash. It needs no server. The
// error is ErrDamaged, or eventstore.ErrCorrupt, and names the file.
func Verify(dir string) (Manifest, error) {
	m, p, err := verify(dir, new(progress))
	if err == nil {
		err = p.sealed()
	}
	return m, err
}

// sealed returns an error if the log, as it was read, is not the one of its seal.
func (p *progress) sealed() error {
	if err := p.seal.End(); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// verify checks all but the seal, which p may have: the log may go on behind the backup.
func verify(dir string, p *progress) (Manifest, *progress, error) {
	m, err := Load(dir)
	if err != nil {
		return m, p, err
	}
	for _, b := range m.Buckets {
		if !slices.Contains(kept[:], b.Name) {
			return m, p, fmt.Errorf("%w: %s: no backup has a bucket %q", ErrDamaged, manifestFile, b.Name)
		}
	}
	for _, f := range m.files() {
		if err := f.check(dir); err != nil {
			return m, p, err
		}
	}
	if err := m.openSeal(dir, p); err != nil {
		return m, p, err
	}
	for i, c := range m.Chunks {
		if c.First != p.next+1 {
			return m, p, fmt.Errorf("%w: %s begins at %d, want %d", ErrDamaged, c.Path, c.First, p.next+1)
		}
		if err := (Manifest{Chunks: m.Chunks[i : i+1]}).messages(dir, 1, p.add); err != nil {
			return m, p, fmt.Errorf("%s: %w", c.Path, err)
		}
	}
	if p.next != m.Last || p.hash() != m.Head {
		return m, p, fmt.Errorf("%w: %s: it has %d commits with the head hash %s, want %d with %s",
			ErrDamaged, manifestFile, p.next, p.hash(), m.Last, m.Head)
	}
	return m, p, nil
}

// openSeal reads the seal of the log, if the backup has one and none was given. The key is the one that the seal names: whose it is, the
// operator knows.
func (m Manifest) openSeal(dir string, p *progress) error {
	if m.Seal == nil || p.seal.Seal.Seq > 0 {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, m.Seal.Path))
	if err == nil {
		p.seal.Seal, err = seal.Parse(text, "")
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, m.Seal.Path, err)
	}
	return nil
}

func (m Manifest) files() []File {
	var all []File
	for _, c := range m.Chunks {
		all = append(all, c.File)
	}
	for _, b := range m.Buckets {
		all = append(all, b.File)
	}
	for _, o := range m.Objects {
		all = append(all, o.File)
	}
	if m.Seal != nil {
		all = append(all, m.Seal.File)
	}
	return all
}
