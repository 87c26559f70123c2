package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// format counts the meanings that events have had: with another one than a
// snapshot was made under, the log has to be read anew.
const format = 1

// Index is where the newest snapshot is described. Get returns nothing and
// revision 0 if there is none; Set replaces what has that revision, or fails with
// eventstore.ErrConflict.
type Index interface {
	Get(ctx context.Context) (data []byte, revision uint64, err error)
	Set(ctx context.Context, data []byte, revision uint64) error
}

// Parts are what snapshots are made of. A part is never changed. Sweep removes
// those that keep does not hold for.
type Parts interface {
	Get(ctx context.Context, name string) ([]byte, error)
	Put(ctx context.Context, name string, data []byte) error
	Sweep(ctx context.Context, keep func(name string) bool) error
}

// Snapshots says where they are kept.
type Snapshots struct {
	Index Index
	Parts Parts
	Log   string // identity of the log they are of
	Every uint64 // commits between two; more while more is alive than a fourth of it
	// Ignored, if set, is told why a snapshot that is there was of no use.
	Ignored func(error)
}

// Due has a value when it is time for Snapshot.
func (e *Engine) Due() <-chan struct{} { return e.view.due }

// Snapshot keeps what is in memory, unless another engine just did, or Complete
// has not returned yet. Commands go on meanwhile. last says that no other comes
// after: then it is kept whatever little is new.
func (e *Engine) Snapshot(ctx context.Context, last bool) error {
	s, at, news := e.Snapshots, e.view.reach(), uint64(1)
	if _, _, missing := e.view.missing(); missing {
		return nil
	}
	if !last {
		news = max(1, s.Every/2)
	}
	e.view.begun(at) // whatever comes of it, the next one is due as much later
	data, revision, err := s.Index.Get(ctx)
	if err != nil {
		return fmt.Errorf("look at the snapshot: %w", err)
	}
	base, unfit := s.read(data)
	if shunned := e.shunned.Load(); unfit != nil || shunned != nil && bytes.Equal(*shunned, data) {
		base = &pb.Snapshot{}
	}
	if at < base.Seq+news {
		e.view.kept(base.Seq)
		return nil
	}
	c := e.view.cut(base.Seq == 0)
	next := &pb.Snapshot{Format: format, Schema: wire.Schema(), Log: s.Log, Seq: c.seq, Chain: c.chain, Through: c.through, Ended: base.Ended}
	live, err := liveBlocks(c.live)
	if err != nil {
		return err
	}
	if next.Live, err = s.put(ctx, "live", c.seq, live); err != nil {
		return err
	}
	if err := s.more(ctx, next, after(c.ended, base.Seq)); err != nil {
		return err
	}
	if data, err = sealed(next); err != nil {
		return err
	}
	switch err := s.Index.Set(ctx, data, revision); {
	case errors.Is(err, eventstore.ErrConflict):
		return nil // another engine's is as new
	case err != nil:
		return fmt.Errorf("keep the snapshot: %w", err)
	}
	e.view.kept(c.seq)
	return s.Parts.Sweep(ctx, func(name string) bool { return name > fmt.Sprintf("%020d/", next.Seq) || has(next, name) })
}

// more adds what ended since to the parts of s. Small ones are put together, so
// that there are few and hardly any is written more often than they double.
func (s *Snapshots) more(ctx context.Context, next *pb.Snapshot, ended []named) error {
	data, err := endedBlocks(ended)
	if err != nil || len(data) == 0 {
		return err
	}
	for n := len(next.Ended) - 1; n >= 0 && next.Ended[n].Size <= uint64(len(data)); n-- {
		older, err := s.get(ctx, next.Ended[n])
		if err != nil {
			return err
		}
		data = append(older, data...)
		next.Ended = slices.Clone(next.Ended[:n])
	}
	part, err := s.put(ctx, "ended", next.Seq, data)
	next.Ended = append(slices.Clip(next.Ended), part)
	return err
}

func (s *Snapshots) put(ctx context.Context, kind string, seq uint64, data []byte) (*pb.SnapshotPart, error) {
	part := partOf(kind, seq, data)
	if err := s.Parts.Put(ctx, part.Name, data); err != nil {
		return nil, fmt.Errorf("keep a part of the snapshot: %w", err)
	}
	return part, nil
}

func (s *Snapshots) get(ctx context.Context, part *pb.SnapshotPart) ([]byte, error) {
	data, err := s.Parts.Get(ctx, part.GetName())
	if err != nil {
		return nil, fmt.Errorf("get a part of the snapshot: %w", err)
	}
	if !bytes.Equal(seal(data), part.GetSha256()) {
		return nil, fmt.Errorf("%w: part %s", errDamaged, part.GetName())
	}
	return data, nil
}

// sealed encodes the description of a snapshot after its own checksum.
func sealed(p *pb.Snapshot) ([]byte, error) {
	data, err := proto.Marshal(p)
	return append(seal(data), data...), err
}

func seal(data []byte) []byte {
	sum := sha256.Sum256(data)
	return sum[:]
}

// read decodes the description of a snapshot; the error says why it is of no use here.
func (s *Snapshots) read(data []byte) (*pb.Snapshot, error) {
	if len(data) == 0 {
		return nil, errNone
	}
	p := &pb.Snapshot{}
	body := data[min(sha256.Size, len(data)):]
	switch err := proto.Unmarshal(body, p); {
	case err != nil || !bytes.HasPrefix(data, seal(body)):
		return nil, errDamaged
	case p.GetFormat() != format || !bytes.Equal(p.GetSchema(), wire.Schema()):
		return nil, errors.New("the snapshot was made by a build that knows other events")
	case p.GetLog() != s.Log:
		return nil, fmt.Errorf("the snapshot is of another log: %s, want %s", p.GetLog(), s.Log)
	}
	return p, nil
}

// errNone says that there is no snapshot.
var errNone = errors.New("no snapshot")

// has reports whether a part belongs to the snapshot.
func has(p *pb.Snapshot, name string) bool {
	return p.GetLive().GetName() == name || slices.ContainsFunc(p.GetEnded(), func(part *pb.SnapshotPart) bool { return part.GetName() == name })
}
