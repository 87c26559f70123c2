package engine

import "time"

// file has the view know where the work of an instance is, as it is now: in the
// queue of a role, or nowhere but with the agent that was given it directly. The
// caller holds the view.
func (v *view) file(n *entry) {
	id := n.in.ID
	if n.in.Direct && n.in.Closed == "" {
		v.direct[id] = true
	} else if len(v.direct) > 0 {
		delete(v.direct, id)
	}
	was, is := v.queued[id], v.line(n)
	if was.at == is {
		return
	}
	if was.at != nil {
		delete(v.queued, id)
		was.at.claims(was.slot)
	}
	if is != nil {
		since := now()
		v.queued[id] = spot{is, since}
		is.queues(since)
	}
}

// line is that of the agents who could take the work from its queue, or nil. Work
// that rests after a fault, or that was claimed since it was dispatched, is on its
// way back to the queue: of that the view does not know.
func (v *view) line(n *entry) *line {
	if n.in.Direct || !n.rests.IsZero() || n.in.Claim != nil && (n.in.Work != n.in.Seq || n.in.Claim.Live(n.in.UpdatedAt)) {
		return nil
	}
	role := n.works()
	if role == "" {
		return nil
	}
	return v.lines.line(role)
}

// lapsed are the instances whose work no queue has and, at the time, nobody: the
// lease has run out, or it was given back and has rested.
func (v *view) lapsed(at time.Time) (all []*entry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id := range v.direct {
		n := v.live[id]
		if n == nil {
			continue
		}
		if _, p := n.piece(); p != nil && !at.Before(p.busy) {
			n.own, all = false, append(all, n)
		}
	}
	return all
}
