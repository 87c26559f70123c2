// Package snapshot saves and loads the state of all instances, so that a start does
// not read the whole log. The log stays the truth: a snapshot that is damaged, of
// another log or of another build is rejected, and the log is read instead.
//
// A snapshot is an index entry and parts. One part has the live instances, whole, and
// is rewritten for each snapshot. The other parts have the closed ones, in summary;
// they are written once, and small ones are merged.
package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Index holds the description of the newest snapshot. Get returns nothing and
// revision 0 if there is none; Set replaces what has that revision, or fails with
// eventstore.ErrConflict.
type Index interface {
	Get(ctx context.Context) (data []byte, revision uint64, err error)
	Set(ctx context.Context, data []byte, revision uint64) error
}

// Parts hold the parts of snapshots. A part is never changed. Sweep removes those
// that keep does not hold for.
type Parts interface {
	Get(ctx context.Context, name string) ([]byte, error)
	Put(ctx context.Context, name string, data []byte) error
	Sweep(ctx context.Context, keep func(name string) bool) error
}

// Config is where snapshots are kept, and when one is due.
type Config struct {
	Index Index
	Parts Parts
	Log   string // identity of the log they are of
	Every uint64 // commits between two; more while more is alive than a fourth of it
	// Ignored, if set, is called with the reason why a snapshot could not be used.
	Ignored func(error)
}

// Store saves and loads the snapshots of one log. It is safe for concurrent use.
type Store struct {
	Config
	read     atomic.Pointer[[]byte] // the index entry that Newest read last
	rejected atomic.Pointer[[]byte] // the index entry that Reject was called for
}

// New returns a store that has read nothing yet.
func New(c Config) *Store { return &Store{Config: c} }

// ErrNone means that there is no snapshot.
var ErrNone = errors.New("no snapshot")

// Description describes a snapshot: every commit up to Seq is in it, and of some
// instances later ones, none of them after Through.
type Description = pb.Snapshot

// Newest returns the description of the newest snapshot. The error is ErrNone if
// there is none, else it says why the snapshot cannot be used.
func (s *Store) Newest(ctx context.Context) (*Description, error) {
	data, _, err := s.Index.Get(ctx)
	if err != nil {
		return nil, err
	}
	s.read.Store(&data)
	return s.decodeIndex(data)
}

// Reject reports why a snapshot could not be used, and keeps Save from building on
// the one that Newest read last.
func (s *Store) Reject(reason error) {
	s.rejected.Store(s.read.Load())
	if s.Ignored != nil {
		s.Ignored(reason)
	}
}

// Base is the snapshot that the next one is built on. Its Seq is 0 if there is none
// that can be used.
type Base struct {
	Seq      uint64
	closed   []*pb.SnapshotPart
	revision uint64
}

// Base returns what the index has now.
func (s *Store) Base(ctx context.Context) (Base, error) {
	data, revision, err := s.Index.Get(ctx)
	if err != nil {
		return Base{}, fmt.Errorf("read the index of snapshots: %w", err)
	}
	rejected := s.rejected.Load()
	d, unfit := s.decodeIndex(data)
	if unfit != nil || rejected != nil && bytes.Equal(*rejected, data) {
		return Base{revision: revision}, nil
	}
	return Base{d.GetSeq(), d.GetEnded(), revision}, nil
}

// Capture is the state of all instances at one moment. Every commit up to Seq is in it, and
// of some instances later ones, none of them after Through.
type Capture struct {
	Seq, Through uint64
	Chain        string // of the commit at Seq
	Live         iter.Seq[Live]
	Closed       iter.Seq[Closed] // since the base, or all if there is none
}

// Save writes a snapshot that is built on base, and removes parts that no snapshot
// needs. saved is false if another process has saved one since base was read.
func (s *Store) Save(ctx context.Context, base Base, c Capture) (saved bool, err error) {
	next := &pb.Snapshot{Format: format, Schema: wire.Schema(), Log: s.Log, Seq: c.Seq, Chain: c.Chain, Through: c.Through}
	live, err := encodeLive(c.Live)
	if err != nil {
		return false, err
	}
	if next.Live, err = s.putPart(ctx, "live", c.Seq, live); err != nil {
		return false, err
	}
	if next.Ended, err = s.addClosed(ctx, base.closed, c); err != nil {
		return false, err
	}
	data, err := encodeIndex(next)
	if err != nil {
		return false, err
	}
	switch err := s.Index.Set(ctx, data, base.revision); {
	case errors.Is(err, eventstore.ErrConflict):
		return false, nil // the other process's is as new
	case err != nil:
		return false, fmt.Errorf("write the index of snapshots: %w", err)
	}
	return true, s.Parts.Sweep(ctx, func(name string) bool { return name > fmt.Sprintf("%020d/", next.Seq) || contains(next, name) })
}

// addClosed writes the closed instances of a capture, and returns the parts of all
// closed ones. It merges small parts: so there are few, and hardly any instance is
// written more often than the part doubles.
func (s *Store) addClosed(ctx context.Context, parts []*pb.SnapshotPart, c Capture) ([]*pb.SnapshotPart, error) {
	data, err := encodeClosed(c.Closed)
	if err != nil || len(data) == 0 {
		return parts, err
	}
	for n := len(parts) - 1; n >= 0 && parts[n].Size <= uint64(len(data)); n-- {
		older, err := s.getPart(ctx, parts[n])
		if err != nil {
			return nil, err
		}
		data = append(older, data...)
		parts = slices.Clone(parts[:n])
	}
	part, err := s.putPart(ctx, "ended", c.Seq, data)
	return append(slices.Clip(parts), part), err
}

// EachLive calls f with each live instance of a snapshot, for DecodeLive.
func (s *Store) EachLive(ctx context.Context, d *Description, f func(wire.Header) error) error {
	part, err := s.getPart(ctx, d.GetLive())
	if err != nil {
		return err
	}
	return eachBlock(part, func(block []byte) error { return eachLive(block, f) })
}

// EachClosed calls f with each closed instance of a snapshot.
func (s *Store) EachClosed(ctx context.Context, d *Description, f func(Closed)) error {
	for _, part := range d.GetEnded() {
		data, err := s.getPart(ctx, part)
		if err != nil {
			return err
		}
		if err := eachBlock(data, func(block []byte) error { return eachClosed(block, f) }); err != nil {
			return err
		}
	}
	return nil
}
