package projection

import (
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// closedSummary is what is kept of a closed instance. That is enough for a line of a list,
// for those that are linked to it, and to apply commits that still come. Closed instances
// only become more, so it is as small as it can be.
type closedSummary struct {
	id, title        string
	shared           *sharedSummary
	group            *counted
	rare             *rareFields // nil of most
	head             digest
	seq              uint64
	entered, updated int64 // nanoseconds since 1970
	iteration        uint32
	attempt          uint32
}

// sharedSummary is what many closed instances have in common.
type sharedSummary struct {
	workflow, definition, state, owner string
	kind                               workflow.Kind
	closed                             instance.Closed
	timeout                            time.Duration
	level                              workflow.Level
	failed                             bool
	shown, documents                   bool   // whether tests prove its change; whether that is of documents alone
	unproven                           string // why none does
}

// rareFields are what few closed instances have.
type rareFields struct {
	parent      string
	paused      bool
	parked      *instance.Parked
	failures    []instance.FailureCount
	questions   []instance.Question   // that are open
	escalations []instance.Escalation // that are not resolved
	links       []instance.Link       // to instances that have not ended well
}

// summarize returns the summary of a closed instance. It takes the parts in common with
// others from shared, or adds them there.
func summarize(in *instance.Instance, head digest, shared map[sharedSummary]*sharedSummary) *closedSummary {
	shown, documents, unproven := in.Shown().Outline()
	key := sharedSummary{in.Workflow, in.Definition, in.State, in.Owner, in.Kind, in.Closed, in.Timeout, in.Level, in.Failed,
		shown, documents, unproven}
	common, ok := shared[key]
	if !ok {
		common = &key
		shared[key] = common
	}
	c := &closedSummary{
		id: in.ID, title: in.Issue.Title, shared: common, head: head, seq: in.Seq,
		entered: in.EnteredAt.UnixNano(), updated: in.UpdatedAt.UnixNano(),
		iteration: uint32(in.Iteration), attempt: uint32(in.Visited(in.State)),
	}
	rare := rareFields{
		parent: in.Parent, paused: in.Paused, parked: in.Parked, failures: in.Failures,
		questions:   filtered(in.Questions, func(q instance.Question) bool { return !q.Answered && !q.Withdrawn }),
		escalations: filtered(in.Escalations, func(e instance.Escalation) bool { return !e.Resolved }),
		links:       filtered(in.Links, func(l instance.Link) bool { return !l.Ended || !l.Well }),
	}
	if rare.any() {
		c.rare = &rare
	}
	return c
}

func (r *rareFields) any() bool {
	return r.parent != "" || r.paused || r.parked != nil || len(r.failures)+len(r.questions)+len(r.escalations)+len(r.links) > 0
}

// filtered returns the elements that f holds for, nil if it holds for none.
func filtered[T any](all []T, f func(T) bool) []T {
	if !slices.ContainsFunc(all, f) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(e T) bool { return !f(e) })
}

// fill makes in the instance as far as it is kept. Its visits become visit, which has
// one element.
func (c *closedSummary) fill(in *instance.Instance, visit []instance.Visit) {
	s := c.shared
	*in = instance.Instance{
		ID: c.id, Workflow: s.workflow, Definition: s.definition, State: s.state, Owner: s.owner, Kind: s.kind, Closed: s.closed,
		Timeout: s.timeout, Level: s.level, Failed: s.failed, Seq: c.seq,
		EnteredAt: time.Unix(0, c.entered).UTC(), UpdatedAt: time.Unix(0, c.updated).UTC(), Iteration: int(c.iteration),
	}
	in.Issue.Title = c.title
	in.Head, in.Evidence = instance.KeptProof(s.shown, s.documents, s.unproven)
	visit[0] = instance.Visit{State: s.state, Count: int(c.attempt)}
	in.Visits = visit
	if r := c.rare; r != nil {
		in.Parent, in.Paused, in.Parked, in.Failures = r.parent, r.paused, r.parked, r.failures
		in.Questions, in.Escalations, in.Links = r.questions, r.escalations, r.links
	}
}

// instance returns the instance as far as it is kept.
func (c *closedSummary) instance() (in instance.Instance) {
	c.fill(&in, make([]instance.Visit, 1))
	return in
}
