package engine

// cut is the view as it was when the log was followed up to seq: every commit up
// to there is in it, and of some instances more, none of them after through.
type cut struct {
	seq, through uint64
	chain        string
	live         []lively
	ended        []named // what ended since the last cut, or all
}

type lively struct {
	*entry
	given []uint64
}

type named struct {
	id string
	*outline
	given []uint64
}

// breath is how many instances are looked at before others get at the view.
const breath = 512

// each gives every value of a map of the view, and lets others at the view in
// between: what they add or remove meanwhile may be among them or not.
func each[T any](v *view, all map[string]T, f func(string, T)) {
	n := 0
	for id, one := range all {
		f(id, one)
		if n++; n%breath == 0 {
			v.mu.Unlock()
			v.mu.Lock()
		}
	}
}

// cut returns the view as it is now. It is put together while others change it:
// an instance that ends meanwhile is in it twice, or has ended, for what has
// ended is looked at last.
func (v *view) cut(everything bool) *cut {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := &cut{seq: v.seq, through: v.seq, chain: v.chain, live: make([]lively, 0, len(v.live))}
	each(v, v.live, func(id string, n *entry) {
		n.own = false
		c.live = append(c.live, lively{n, v.claims[id]})
		c.through = max(c.through, n.in.Seq)
	})
	add := func(id string, o *outline) {
		c.ended = append(c.ended, named{id, o, v.claims[id]})
		c.through = max(c.through, o.seq)
	}
	if everything {
		each(v, v.ended, add)
		return c
	}
	for id := range v.fresh {
		add(id, v.ended[id])
	}
	return c
}

// kept forgets what ended up to a sequence: a snapshot has it.
func (v *view) kept(seq uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cutAt = max(v.cutAt, seq)
	rest := map[string]bool{} // a map never gets smaller
	for id := range v.fresh {
		if v.ended[id].seq > seq {
			rest[id] = true
		}
	}
	if v.fresh != nil {
		v.fresh = rest
	}
}

// after is what ended after a sequence.
func after(all []named, seq uint64) (some []named) {
	for _, o := range all {
		if o.seq > seq {
			some = append(some, o)
		}
	}
	return some
}
