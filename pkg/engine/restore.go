package engine

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/series"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// tries is how often what another engine may just have replaced is looked for.
const tries = 3

// errUnfit says that the log does not go on from the snapshot.
var errUnfit = errors.New("the log does not go on from the snapshot")

// restore fills the view with what is alive in the newest snapshot, and returns
// its description, or nil if there is none of use.
func (e *Engine) restore(ctx context.Context) (*pb.Snapshot, error) {
	if e.Snapshots == nil {
		return nil, nil
	}
	var unfit error
	for range tries {
		p, err := e.newest(ctx)
		if err == nil {
			err = e.revive(ctx, p)
		}
		if err == nil {
			return p, nil
		}
		e.view.clear()
		if unfit = err; errors.Is(err, errNone) {
			return nil, ctx.Err()
		}
	}
	e.ignore(unfit)
	return nil, ctx.Err()
}

// newest is the description of the newest snapshot.
func (e *Engine) newest(ctx context.Context) (*pb.Snapshot, error) {
	data, _, err := e.Snapshots.Index.Get(ctx)
	if err != nil {
		return nil, err
	}
	e.began.Store(&data)
	return e.Snapshots.read(data)
}

// ignore has no later snapshot be built on the one that this engine looked at.
func (e *Engine) ignore(err error) {
	e.shunned.Store(e.began.Load())
	if e.Snapshots.Ignored != nil {
		e.Snapshots.Ignored(err)
	}
}

// revive takes in the live part of a snapshot.
func (e *Engine) revive(ctx context.Context, p *pb.Snapshot) error {
	head, err := e.Store.Head(ctx)
	if err != nil {
		return err
	}
	if head < p.GetThrough() {
		return fmt.Errorf("%w: it has %d commits, want %d", errUnfit, head, p.GetThrough())
	}
	part, err := e.Snapshots.get(ctx, p.GetLive())
	if err != nil {
		return err
	}
	e.view.await(p.GetEnded(), func(encoded []byte) (*entry, error) {
		p, err := toLive(encoded)
		if err != nil {
			return nil, err
		}
		return revived(p), nil
	})
	return blocks(part, func(block []byte) error { return e.lay(ctx, block) })
}

func revived(p *pb.LiveInstance) *entry {
	n := &entry{wire.ToLive(p), &record{rests: wire.Time(p.GetRests())}}
	copy(n.head[:], p.GetHead())
	all := make([]taken, len(p.GetTaken()))
	for i, t := range p.GetTaken() {
		all[i] = taken{uint32(t >> 32), uint32(t)}
	}
	n.taken = series.New(all...)
	return n
}

// Complete takes in the rest of the snapshot that Follow began with: what had ended
// before, and what lives and nobody asked for yet. Until it returns, List waits.
// Where the snapshot turns out to be of no use, it reads the log.
func (e *Engine) Complete(ctx context.Context) error {
	ended, upTo, missing := e.view.missing()
	if !missing {
		return nil
	}
	asleep := e.rouse(ctx)
	err := e.finish(ctx, ended)
	for n := 1; err != nil && ctx.Err() == nil && n < tries; n++ {
		// Another engine may have put parts together.
		var p *pb.Snapshot
		if p, err = e.newest(ctx); err == nil {
			err = e.finish(ctx, p.GetEnded())
		}
	}
	if err = errors.Join(asleep, err); err != nil && ctx.Err() == nil {
		e.ignore(err)
		err = e.recount(ctx, upTo)
	}
	if err != nil {
		return err
	}
	e.note(e.view.completed()...)
	return nil
}

// finish takes in the ended parts of a snapshot.
func (e *Engine) finish(ctx context.Context, parts []*pb.SnapshotPart) error {
	for _, part := range parts {
		data, err := e.Snapshots.get(ctx, part)
		if err != nil {
			return err
		}
		err = blocks(data, func(block []byte) error {
			m := &pb.EndedInstances{}
			if err := proto.Unmarshal(block, m); err != nil {
				return fmt.Errorf("%w: %w", errDamaged, err)
			}
			for _, one := range m.GetInstances() {
				if int(one.GetEnding()) >= len(m.GetEndings()) {
					return fmt.Errorf("%w: an ending is missing", errDamaged)
				}
				in := wire.ToEnded(m.GetEndings()[one.GetEnding()], one)
				var head digest
				copy(head[:], one.GetHead())
				e.view.end(&in, head, one.GetGiven())
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// recount reads the log up to a sequence for what is missing.
func (e *Engine) recount(ctx context.Context, upTo uint64) error {
	other := New(Config{Store: e.Store, Definitions: e.Definitions, Now: e.Now})
	done := errors.New("that is all")
	err := e.Store.Read(ctx, 1, func(c eventstore.Commit) error {
		if err := other.learn(ctx, c); err != nil {
			return err
		}
		if c.Seq >= upTo {
			return done
		}
		return nil
	}, nil)
	if !errors.Is(err, done) {
		return err
	}
	for _, n := range other.view.live {
		e.put(ctx, n)
		e.note(n.in.ID)
	}
	for id, o := range other.view.ended {
		in := o.instance(id)
		e.view.end(&in, o.head, other.view.claims[id])
	}
	return nil
}

// open reports whether an instance has still to hear of another's end.
func open(links []instance.Link) bool {
	for _, l := range links {
		if !l.Ended {
			return true
		}
	}
	return false
}
