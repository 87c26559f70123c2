package projection

import (
	"math"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Group is what lists select instances by and many have in common. Groups are counted as instances
// change, so that nobody has to go through all instances for a count.
type Group struct {
	Workflow, State, Owner string
	Kind                   workflow.Kind
	Worker                 string // the role whose turn it is
	Repo                   string // OWNER/NAME; empty: none is known
	Labels                 string // of the issue, each between two newlines
	Closed                 instance.Closed
	Paused, Escalated      bool
	Waiting                bool // only people can move it
	Failing                bool // its newest work in some state failed
	Unproven               bool // its tests were compared with those of the base, and show nothing
}

// Row is what lists select one instance by. Those of 100,000 instances are looked at in
// milliseconds: they lie in memory in a row.
type Row struct {
	*counted
	state     *State
	lateFrom  int64 // nanoseconds since 1970; never is math.MaxInt64
	stuckFrom int64
	text      string // in small letters; empty: it was not made yet
	Failures  int32  // the most in a row, in any one state
	elsewhere bool   // its name does not have its repository
}

// unclaimedTimeout is how long work may wait for a claim before it counts as stuck.
const unclaimedTimeout = time.Minute

// RowOf returns the row of an instance.
func RowOf(in instance.Instance) Row {
	c := new(counted)
	r := rowOf(&State{Instance: in}, &c.Group)
	r.counted = c
	return r
}

// rowOf returns the row of a state, without its group, which it stores in g.
func rowOf(s *State, g *Group) Row {
	in := &s.Instance
	_, held := in.Escalation()
	_, _, reason := in.Shown().Outline()
	r := Row{state: s, lateFrom: math.MaxInt64, stuckFrom: math.MaxInt64}
	for _, f := range in.Failures {
		r.Failures = max(r.Failures, int32(min(f.Count, math.MaxInt32)))
	}
	*g = Group{
		Workflow: in.Workflow, State: in.State, Owner: in.Owner, Kind: in.Kind, Worker: in.Worker(), Repo: in.Repo(), Closed: in.Closed,
		Paused: in.Paused, Escalated: held && in.Closed == "", Waiting: in.WaitsForPeople(), Failing: r.Failures > 0, Unproven: reason != "",
	}
	if len(in.Issue.Labels) > 0 {
		g.Labels = "\n" + strings.Join(in.Issue.Labels, "\n") + "\n"
	}
	r.elsewhere = g.Repo == "" || !strings.HasPrefix(in.ID, g.Repo)
	if in.Closed != "" {
		return r
	}
	if in.Timeout > 0 {
		r.lateFrom = in.DeadlinesSince().Add(in.Timeout).UnixNano()
	}
	r.stuckFrom = r.lateFrom
	switch {
	case in.Paused:
		r.stuckFrom = math.MinInt64
	case g.Worker == "", in.Parked != nil:
	case in.Claim != nil:
		r.stuckFrom = min(r.stuckFrom, in.Claim.Lease.UnixNano())
	default:
		r.stuckFrom = min(r.stuckFrom, in.UpdatedAt.Add(unclaimedTimeout).UnixNano()+1)
	}
	return r
}

// ID returns the name of the instance.
func (r *Row) ID() string { return r.state.Instance.ID }

// Instance returns the instance, of a closed one its summary. It may neither be kept nor changed.
func (r *Row) Instance() *instance.Instance { return &r.state.Instance }

// Of reports whether the instance is of a repository, by its issue or by its name.
func (r *Row) Of(repo string) bool {
	return r.Repo == repo || r.elsewhere && strings.HasPrefix(r.ID(), repo+"/")
}

// Labelled reports whether its issue has a label. Of a closed one that is not known.
func (r *Row) Labelled(label string) bool { return strings.Contains(r.Labels, "\n"+label+"\n") }

// Late reports whether the instance is in its state for longer than the state's timeout.
func (r *Row) Late(now time.Time) bool { return now.UnixNano() >= r.lateFrom }

// Stuck reports whether the instance is paused, is late, or has work that no agent has: its claim
// has expired, or it waits for one for too long.
func (r *Row) Stuck(now time.Time) bool { return now.UnixNano() >= r.stuckFrom }

// Has reports whether the id or the title has a text, which is in small letters.
func (r *Row) Has(text string) bool {
	if r.text == "" {
		r.text = strings.ToLower(r.state.Instance.ID + "\n" + r.state.Instance.Issue.Title)
	}
	return strings.Contains(r.text, text)
}
