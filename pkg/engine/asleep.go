package engine

import (
	"context"
	"fmt"
	"runtime"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// asleep are instances of a snapshot that are encoded still: to decode all that
// lives would hold up a start, so those are decoded first that are asked for.
type asleep struct {
	encoded map[string][]byte // nil of one that woke up
	decode  func(encoded []byte) (*entry, error)
	damage  error // why one did not
}

// wake has the view know an instance that is asleep. The caller holds the view.
func (v *view) wake(id string) {
	encoded := v.asleep.encoded[id]
	if encoded == nil {
		return
	}
	v.asleep.encoded[id] = nil
	n, err := v.asleep.decode(encoded)
	if err != nil {
		v.asleep.damage = err // the log has it, and Complete reads that
		return
	}
	v.settle(n)
}

// sleep takes in instances that are encoded.
func (v *view) sleep(all []wire.Header) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, one := range all {
		v.asleep.encoded[one.ID] = one.Encoded
	}
}

// nap is how many instances are woken before others get at the view, and heavy
// how many bytes they have at most but for the last of them: to decode one that
// made a thousand steps takes as long as twenty that made eight.
const (
	nap   = 32
	heavy = 16 << 10
)

// rouse wakes some of those that are asleep and returns them, and others that
// woke up since it was last called; none are left if there are none.
func (v *view) rouse() (ids []string, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	size := 0
	for id, encoded := range v.asleep.encoded {
		v.wake(id)
		delete(v.asleep.encoded, id)
		size += len(encoded)
		if ids = append(ids, id); len(ids) == nap || size >= heavy {
			return ids, nil
		}
	}
	v.asleep.encoded = nil // a map never gets smaller
	return ids, v.asleep.damage
}

// rouse wakes all that is asleep.
func (e *Engine) rouse(ctx context.Context) error {
	for ctx.Err() == nil {
		ids, err := e.view.rouse()
		e.note(ids...)
		if err != nil || len(ids) == 0 {
			return err
		}
		runtime.Gosched() // whoever waits for the view is slower to wake up than this is to take it again
	}
	return ctx.Err()
}

// lay takes in a block of what is alive: encoded, but for what a claim may have to
// be chosen from.
func (e *Engine) lay(ctx context.Context, block []byte) error {
	all, err := wire.Headers(block)
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	idle := all[:0]
	for _, one := range all {
		if !one.Given && e.orderOf(ctx, one.Definition) == orderless {
			idle = append(idle, one)
			continue
		}
		p, err := toLive(one.Encoded)
		if err != nil {
			return err
		}
		e.takeIn(ctx, p)
	}
	e.view.sleep(idle)
	return nil
}

func toLive(encoded []byte) (*pb.LiveInstance, error) {
	p := &pb.LiveInstance{}
	if err := proto.Unmarshal(encoded, p); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return p, nil
}

// takeIn has the view know a live instance of a snapshot.
func (e *Engine) takeIn(ctx context.Context, p *pb.LiveInstance) {
	n := revived(p)
	e.put(ctx, n)
	e.view.restoreClaims(n.in.ID, p.GetGiven())
	e.note(n.in.ID)
}
