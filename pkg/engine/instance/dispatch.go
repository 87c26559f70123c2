package instance

// Dispatched makes work available to a role. The queue of that role delivers the
// commit.
type Dispatched struct {
	State  string
	Owner  string
	Reason string // why again, when a person asked for it
	// Question is the number of the question that the role Owner is to answer; 0 for
	// the work of the state.
	Question int
}

func (Dispatched) apply(in *Instance, c Commit) {
	in.Work, in.Direct = c.Seq, false
	in.Parked, in.Woken = nil, false
}

// dispatch makes the work available to the role that is to work next. It does
// nothing if there is none, or if the instance is paused or closed.
func (d *decision) dispatch(reason string) {
	role := d.in.Worker()
	if role == "" || d.in.Paused || d.in.Closed != "" {
		return
	}
	q, _ := d.in.Inquiry()
	d.record(Dispatched{State: d.in.State, Owner: role, Reason: reason, Question: q.Number})
}
