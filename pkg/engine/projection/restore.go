package projection

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection/snapshot"
	"github.com/signalbox/signalbox/pkg/engine/wire"
)

// maxTries is how often a snapshot is looked for that another process may just have
// replaced.
const maxTries = 3

// errUnfit means that the log does not go on from the snapshot.
var errUnfit = errors.New("the log does not go on from the snapshot")

// restore loads the live instances of the newest snapshot and returns its description,
// or nil if there is none that can be used.
func (p *Projection) restore(ctx context.Context) (*snapshot.Description, error) {
	if p.snapshots == nil {
		return nil, nil
	}
	var unfit error
	for range maxTries {
		d, err := p.snapshots.Newest(ctx)
		if err == nil {
			err = p.loadLive(ctx, d)
		}
		if err == nil {
			return d, nil
		}
		p.reset()
		if unfit = err; errors.Is(err, snapshot.ErrNone) {
			return nil, ctx.Err()
		}
	}
	p.snapshots.Reject(unfit)
	return nil, ctx.Err()
}

// loadLive inserts the live instances of a snapshot. They stay encoded until they are
// looked up, but for those that a claim may have to be chosen from.
func (p *Projection) loadLive(ctx context.Context, d *snapshot.Description) error {
	head, err := p.store.Head(ctx)
	if err != nil {
		return err
	}
	if head < d.GetThrough() {
		return fmt.Errorf("%w: it has %d commits, want %d", errUnfit, head, d.GetThrough())
	}
	p.missing.begin(d)
	p.states.decodeWith(func(data []byte) (*State, error) {
		l, err := snapshot.DecodeLive(data)
		if err != nil {
			return nil, err
		}
		return decoded(l), nil
	})
	return p.snapshots.EachLive(ctx, d, func(h wire.Header) error {
		if !h.Given && p.orderOf(ctx, h.Definition) == orderless {
			p.states.insertEncoded(h.ID, h.Encoded)
			return nil
		}
		l, err := snapshot.DecodeLive(h.Encoded)
		if err != nil {
			return err
		}
		s := decoded(l)
		p.put(ctx, s)
		p.claims.add(s.Instance.ID, l.Claims...)
		p.note(s.Instance.ID)
		return nil
	})
}

// Complete loads the rest of the snapshot that Follow began with: what had closed
// before, and the live instances that are still encoded. Until it returns, List waits.
// If the snapshot proves damaged, it reads the log. Call it after Follow called caught.
func (p *Projection) Complete(ctx context.Context) error {
	d, missing := p.missing.description()
	if !missing {
		return nil
	}
	seq, _ := p.position.read()
	undecoded := p.decodeAll(ctx)
	err := p.loadClosed(ctx, d)
	for n := 1; err != nil && ctx.Err() == nil && n < maxTries; n++ {
		// Another process may have merged parts.
		if d, err = p.snapshots.Newest(ctx); err == nil {
			err = p.loadClosed(ctx, d)
		}
	}
	if err = errors.Join(undecoded, err); err != nil && ctx.Err() == nil {
		p.snapshots.Reject(err)
		err = p.rebuild(ctx, seq)
	}
	if err != nil {
		return err
	}
	// An instance that waits for another's end may wait for a missing one.
	p.note(p.waitingForOthers()...)
	p.missing.end()
	return nil
}

// decodeAll decodes the live instances that are still encoded.
func (p *Projection) decodeAll(ctx context.Context) error {
	for ctx.Err() == nil {
		ids, err := p.states.decodeSome()
		p.note(ids...)
		if err != nil || len(ids) == 0 {
			return err
		}
		runtime.Gosched() // a goroutine that waits for the lock wakes up slower than this one takes it again
	}
	return ctx.Err()
}

// loadClosed inserts the closed instances of a snapshot.
func (p *Projection) loadClosed(ctx context.Context, d *snapshot.Description) error {
	return p.snapshots.EachClosed(ctx, d, func(c snapshot.Closed) {
		p.claims.add(c.Instance.ID, c.Claims...)
		p.states.insertClosed(&c.Instance, c.Head)
	})
}

// rebuild reads the log up to a sequence for what is missing.
func (p *Projection) rebuild(ctx context.Context, seq uint64) error {
	other := New(Config{Store: p.store, Definitions: p.definitions})
	errDone := errors.New("that is all")
	err := p.store.Read(ctx, 1, func(c eventstore.Commit) error {
		if err := other.apply(ctx, c); err != nil {
			return err
		}
		if c.Seq >= seq {
			return errDone
		}
		return nil
	}, nil)
	if !errors.Is(err, errDone) {
		return err
	}
	for s := range other.states.eachLive() {
		p.put(ctx, s)
		p.note(s.Instance.ID)
	}
	for c := range other.states.eachClosed() {
		in := c.instance()
		p.claims.add(c.id, other.claims.of(c.id)...)
		p.states.insertClosed(&in, c.head)
	}
	return nil
}

// waitingForOthers returns the instances with a link to one that has not ended yet, as
// far as they know.
func (p *Projection) waitingForOthers() (ids []string) {
	for s := range p.states.eachLive() {
		if anyOpen(s.Instance.Links) {
			ids = append(ids, s.Instance.ID)
		}
	}
	for c := range p.states.eachClosed() {
		if c.rare != nil && anyOpen(c.rare.links) {
			ids = append(ids, c.id)
		}
	}
	slices.Sort(ids)
	return ids
}

func anyOpen(links []instance.Link) bool {
	return slices.ContainsFunc(links, func(l instance.Link) bool { return !l.Ended })
}
