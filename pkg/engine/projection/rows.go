package projection

// rows are those of all live instances, in order of id, and the groups of all instances. The lock of states
// guards them.
type rows struct {
	all    sorted[Row]
	groups map[Group]*counted
}

// counted is a group that n instances are of.
type counted struct {
	Group
	n int
}

func newRows() rows { return rows{sorted[Row]{id: (*Row).ID}, map[Group]*counted{}} }

// put adds the row of a state, or replaces that of an older one.
func (r *rows) put(s *State) {
	var g Group
	row := rowOf(s, &g)
	row.counted = r.join(g)
	if before, replaced := r.all.put(row); replaced {
		r.leave(before.counted)
	}
}

// remove removes the row of an instance.
func (r *rows) remove(id string) {
	if before, found := r.all.remove(id); found {
		r.leave(before.counted)
	}
}

// join counts one more instance of a group.
func (r *rows) join(g Group) *counted {
	c := r.groups[g]
	if c == nil {
		c = &counted{Group: g}
		r.groups[g] = c
	}
	c.n++
	return c
}

// leave counts one less.
func (r *rows) leave(c *counted) {
	if c.n--; c.n == 0 {
		delete(r.groups, c.Group)
	}
}

// Counts returns how many instances there are of each group. Of closed ones a group has no more than their
// summaries.
func (p *Projection) Counts() map[Group]int {
	p.states.mu.Lock()
	defer p.states.mu.Unlock()
	all := make(map[Group]int, len(p.states.rows.groups))
	for g, c := range p.states.rows.groups {
		all[g] = c.n
	}
	return all
}
