package engine

import (
	"context"
	"slices"

	"github.com/signalbox/signalbox/pkg/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// clear has the view know nothing again.
func (v *view) clear() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asleep = asleep{}
	empty := newView()
	v.live, v.ended, v.endings = empty.live, empty.ended, empty.endings
	v.work, v.places, v.gave, v.claims = empty.work, empty.places, empty.gave, empty.claims
	for _, work := range v.queued {
		work.at.claims(work.slot)
	}
	v.queued, v.direct = empty.queued, empty.direct
	v.seq, v.chain, v.cutAt, v.absent = 0, "", 0, nil
	if v.fresh != nil {
		v.fresh = map[string]bool{}
	}
	v.release()
}

// await says that what ended before is still to come, and how what is alive is
// decoded.
func (v *view) await(ended []*pb.SnapshotPart, decode func([]byte) (*entry, error)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.absent, v.whole = ended, make(chan struct{})
	v.asleep = asleep{map[string][]byte{}, decode, nil}
}

// release lets those go on who wait for the view to be whole. The caller holds it.
func (v *view) release() {
	if v.whole != nil {
		close(v.whole)
		v.whole = nil
	}
}

// missing is what the view is not whole without, and up to where the log has it.
func (v *view) missing() (ended []*pb.SnapshotPart, upTo uint64, missing bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.absent, v.seq, v.whole != nil
}

// begun says from where on the log is followed.
func (v *view) begun(seq uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cutAt = seq
}

// complete waits until the view is whole.
func (v *view) complete(ctx context.Context) error {
	v.mu.Lock()
	whole := v.whole
	v.mu.Unlock()
	if whole == nil {
		return nil
	}
	select {
	case <-whole:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end takes in the outline of an instance, unless something newer is known.
func (v *view) end(in *instance.Instance, head digest, given []uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, command := range given {
		v.gives(command, in.ID)
	}
	if _, lives := v.live[in.ID]; !lives && in.Seq > v.seqOf(in.ID) { // of one that lives the log will tell
		v.ended[in.ID] = outlined(in, head, v.endings)
	}
}

// restoreClaims notes claims that were given an instance.
func (v *view) restoreClaims(id string, commands []uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, command := range commands {
		v.gives(command, id)
	}
}

// completed says that the view is whole, and returns who has still to hear of
// another's end: that may have been among what was missing.
func (v *view) completed() (ids []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	each(v, v.live, func(id string, n *entry) {
		if open(n.in.Links) {
			ids = append(ids, id)
		}
	})
	each(v, v.ended, func(id string, o *outline) {
		if o.more != nil && open(o.more.links) {
			ids = append(ids, id)
		}
	})
	v.absent = nil
	v.release()
	slices.Sort(ids)
	return ids
}

// ids are those of all that is known.
func (v *view) ids() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := make([]string, 0, len(v.live)+len(v.ended))
	each(v, v.live, func(id string, _ *entry) { all = append(all, id) })
	each(v, v.ended, func(id string, _ *outline) { all = append(all, id) })
	return all
}

// reach is how far the log was followed.
func (v *view) reach() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.seq
}
