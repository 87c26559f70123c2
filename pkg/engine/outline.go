package engine

import (
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
)

// outline is what is kept in memory of an instance that has ended: enough for a
// line of a list, for those that are linked to it, and to follow what is still
// added to its record. Ended instances only become more: it is as small as it can be.
type outline struct {
	title            string
	end              *ending
	more             *remainder // nil of most
	head             digest
	seq              uint64
	entered, updated int64 // nanoseconds since 1970
	iteration        uint32
	attempt          uint32
}

// ending is what many ended instances have in common.
type ending struct {
	workflow, definition, state, owner string
	kind                               workflow.Kind
	closed                             instance.Closed
	timeout                            time.Duration
	level                              workflow.Level
	failed                             bool
}

// remainder is what few ended instances have.
type remainder struct {
	parent      string
	paused      bool
	parked      *instance.Parked
	failures    []instance.FailureCount
	questions   []instance.Question   // that are open
	escalations []instance.Escalation // that are not resolved
	links       []instance.Link       // to instances that have not ended well
}

// outlined is the outline of an ended instance. endings are those there are.
func outlined(in *instance.Instance, head digest, endings map[ending]*ending) *outline {
	key := ending{in.Workflow, in.Definition, in.State, in.Owner, in.Kind, in.Closed, in.Timeout, in.Level, in.Failed}
	end, ok := endings[key]
	if !ok {
		end = &key
		endings[key] = end
	}
	o := &outline{
		title: in.Issue.Title, end: end, head: head, seq: in.Seq, entered: in.EnteredAt.UnixNano(), updated: in.UpdatedAt.UnixNano(),
		iteration: uint32(in.Iteration), attempt: uint32(in.Visited(in.State)),
	}
	more := remainder{
		parent: in.Parent, paused: in.Paused, parked: in.Parked, failures: in.Failures,
		questions:   keep(in.Questions, func(q instance.Question) bool { return !q.Answered && !q.Withdrawn }),
		escalations: keep(in.Escalations, func(e instance.Escalation) bool { return !e.Resolved }),
		links:       keep(in.Links, func(l instance.Link) bool { return !l.Ended || !l.Well }),
	}
	if more.parent != "" || more.paused || more.parked != nil || len(more.failures)+len(more.questions)+len(more.escalations)+len(more.links) > 0 {
		o.more = &more
	}
	return o
}

// keep is the elements that f holds for; nil if it holds for none.
func keep[T any](all []T, f func(T) bool) []T {
	if !slices.ContainsFunc(all, f) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(e T) bool { return !f(e) })
}

// fill makes in the instance as far as it is known. Its visits are the one that
// the caller brings.
func (o *outline) fill(in *instance.Instance, id string, visit []instance.Visit) {
	end := o.end
	*in = instance.Instance{
		ID: id, Workflow: end.workflow, Definition: end.definition, State: end.state, Owner: end.owner, Kind: end.kind, Closed: end.closed,
		Timeout: end.timeout, Level: end.level, Failed: end.failed, Seq: o.seq,
		EnteredAt: time.Unix(0, o.entered).UTC(), UpdatedAt: time.Unix(0, o.updated).UTC(), Iteration: int(o.iteration),
	}
	in.Issue.Title = o.title
	visit[0] = instance.Visit{State: end.state, Count: int(o.attempt)}
	in.Visits = visit
	if m := o.more; m != nil {
		in.Parent, in.Paused, in.Parked, in.Failures = m.parent, m.paused, m.parked, m.failures
		in.Questions, in.Escalations, in.Links = m.questions, m.escalations, m.links
	}
}

func (o *outline) instance(id string) (in instance.Instance) {
	o.fill(&in, id, make([]instance.Visit, 1))
	return in
}
