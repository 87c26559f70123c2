package app

import (
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// row is one instance on the board. It does not change once it is made.
type row struct {
	ID, Workflow, State string
	Kind                workflow.Kind
	Repo                string // OWNER/NAME; empty: none is known
	Role                string // whose turn it is; empty: nobody's
	Agent               string // whose lease runs; empty: nobody's
	Entered             time.Time
	Deadline            time.Time // zero: none
	Attempt, Failures   int
	Questions           int  // open ones to people
	Waits               bool // for people
	Paused, Parked      bool
	Closed              instance.Closed
	Failed              bool // it was cancelled, or is known to have ended without success
	Unproven, Title     string
	Labels              []string // of its issue; none of a closed one
	Cost                string   // none of a closed one
	Seq                 uint64
	at                  int    // its place in the cache
	low                 string // see text
}

// text returns what the board searches: id and title in small letters. The cache has made it before.
func (r *row) text() string {
	if r.low == "" {
		return strings.ToLower(r.ID + "\n" + r.Title)
	}
	return r.low
}

// rowOf returns the row of a summary.
func rowOf(p *pb.Summary) row {
	s := view.Summaries([]*pb.Summary{p})[0]
	return row{
		ID: s.Instance, Workflow: s.Workflow, State: s.State, Kind: s.Kind, Repo: p.GetRepo(), Role: s.Worker, Agent: s.Agent,
		Entered: s.EnteredAt, Deadline: s.Deadline, Attempt: s.Attempt, Failures: s.Failures, Questions: s.OpenQuestions,
		Waits:  s.Closed == "" && (s.OpenEscalations > 0 || s.Kind == workflow.Wait && s.Worker == "" && s.WaitingOn == 0),
		Paused: s.Paused, Parked: !s.ParkedUntil.IsZero() || s.WaitsForPlace, Closed: s.Closed, Failed: s.Closed == instance.Cancelled,
		Unproven: s.Unproven, Title: s.Title, Seq: s.Seq, Labels: p.GetLabels(),
		Cost: costOf(view.Spend{TokensIn: int64(p.GetSpend().GetTokensIn()), TokensOut: int64(p.GetSpend().GetTokensOut()), USD: p.GetSpend().GetUsd()}),
	}
}

// rowOfWhole returns the row of an instance.
func rowOfWhole(in view.Instance) row {
	r := row{
		ID: in.Instance, Workflow: in.Workflow, State: in.State, Kind: in.Kind, Repo: in.Issue.Repo, Role: in.Worker,
		Entered: in.EnteredAt, Attempt: in.Attempt, Questions: len(in.Open()), Paused: in.Paused, Parked: in.Parked != nil,
		Closed: in.Closed, Failed: in.Failed, Unproven: in.Unproven, Title: in.Issue.Title, Seq: in.Seq,
		Waits: in.WaitsForPeople(),
	}
	if in.Closed == "" {
		r.Labels, r.Cost = in.Issue.Labels, costOf(in.Spend)
	} else {
		r.Repo = ""
	}
	if r.Repo == "" {
		named := instance.Instance{ID: in.Instance}
		r.Repo = named.Repo()
	}
	if in.Claim != nil {
		r.Agent = in.Claim.Agent
	}
	for _, n := range in.Failures {
		r.Failures = max(r.Failures, n)
	}
	if in.TimeoutS > 0 && in.Closed == "" {
		r.Deadline = in.EnteredAt.Add(time.Duration(in.TimeoutS * float64(time.Second)))
	}
	return r
}

// look is how a state is shown: one word, a glyph and a class, so that no colour says it alone.
type look struct{ Class, Glyph, Word string }

// look depends on the kind of the state and on how the instance stands in it: teams name their
// states themselves.
func (r row) look() look {
	switch {
	case r.Closed != "" && r.Failed:
		return look{"failed", "✕", "ended without success"}
	case r.Closed != "":
		return look{"done", "✓", "ended"}
	case r.Waits:
		return look{"people", "●", "waits for people"}
	case r.Paused:
		return look{"idle", "‖", "paused"}
	case r.Failures > 0:
		return look{"failed", "✕", "failing"}
	case r.Parked, r.Kind == workflow.Wait:
		return look{"idle", "‖", "waits"}
	}
	return look{"work", "▶", "at work"}
}

func (r row) late(now time.Time) bool { return !r.Deadline.IsZero() && now.After(r.Deadline) }
