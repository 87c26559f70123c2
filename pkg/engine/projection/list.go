package projection

import (
	"context"
	"math"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// Selection is a part of all instances, in order of id.
type Selection struct {
	After  string // only those behind this one
	Limit  int    // at most so many
	Closed bool   // closed ones, too
	// Keep chooses. It must be quick, and may neither call the Projection nor keep the row.
	Keep func(*Row) bool
}

// Select returns the instances that a selection has, in order of id, as of now or later. Closed ones are
// summaries: no texts but the title, no evidence, no past. more reports that it has further ones.
func (p *Projection) Select(ctx context.Context, s Selection) (found []instance.Instance, more bool, err error) {
	if err := p.Ready(ctx); err != nil {
		return nil, false, err
	}
	found, more = p.states.selected(s)
	return found, more, nil
}

// List returns all instances that keep holds for, in order of id, as Select does. keep may not keep what it is called
// with.
func (p *Projection) List(ctx context.Context, keep func(instance.Instance) bool) ([]instance.Instance, error) {
	found, _, err := p.Select(ctx, Selection{Limit: math.MaxInt, Closed: true, Keep: func(r *Row) bool { return keep(r.state.Instance) }})
	return found, err
}

// Ready returns when all that is in the log now was followed, and nothing of a snapshot is missing.
func (p *Projection) Ready(ctx context.Context) error {
	if err := p.CatchUp(ctx); err != nil {
		return err
	}
	return p.missing.wait(ctx)
}

// selected returns what a selection has. Of an instance that changes meanwhile it has the newest state that it
// saw.
func (t *states) selected(s Selection) (found []instance.Instance, more bool) {
	live := t.selectedLive(s)
	var closed []instance.Instance
	if s.Closed {
		closed = t.selectedClosed(s)
	}
	for len(live)+len(closed) > 0 {
		if len(found) == s.Limit {
			return found, true
		}
		first := &live
		if len(live) == 0 || len(closed) > 0 && closed[0].ID <= live[0].ID {
			first = &closed
		}
		in := (*first)[0]
		*first = (*first)[1:]
		if len(live) > 0 && live[0].ID == in.ID { // it was closed or reopened between the two
			if live[0].Seq > in.Seq {
				in = live[0]
			}
			live = live[1:]
		}
		found = append(found, in)
	}
	return found, false
}

// enough reports whether there are so many that a selection has more than its limit.
func (s Selection) enough(n int) bool { return s.Limit < math.MaxInt && n > s.Limit }

// selectedLive returns the live ones, at most one more than the limit. It locks for a block at a time.
func (t *states) selectedLive(s Selection) (found []instance.Instance) {
	block := func(after string) (last string) {
		t.mu.Lock()
		defer t.mu.Unlock()
		var at *Row
		for row := range t.rows.all.behind(after) {
			if at = row; !s.Keep(row) {
				continue
			}
			row.state.unshared = false
			if found = append(found, row.state.Instance); s.enough(len(found)) {
				return ""
			}
		}
		if at == nil {
			return ""
		}
		return at.ID() // asked for only now: a name is far away in memory
	}
	for last := block(s.After); last != ""; last = block(last) {
	}
	return found
}

// selectedClosed returns the closed ones, in the same way.
func (t *states) selectedClosed(s Selection) (found []instance.Instance) {
	scratch, visit, group := new(State), make([]instance.Visit, 1), new(counted)
	block := func(after string) (last string) {
		t.mu.Lock()
		defer t.mu.Unlock()
		for c := range t.ended.behind(after) {
			last = (*c).id
			(*c).fill(&scratch.Instance, visit)
			row := rowOf(scratch, &group.Group)
			if row.counted = group; s.Keep(&row) {
				found = append(found, (*c).instance())
			}
			if s.enough(len(found)) {
				return ""
			}
		}
		return last
	}
	for last := block(s.After); last != ""; last = block(last) {
	}
	return found
}
