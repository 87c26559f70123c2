// Package view is the output of the command line: values whose JSON is an interface,
// and the text made of them. Its files are named for the commands.
package view

import (
	"maps"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/standing"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Instance is the JSON of `show`.
type Instance struct {
	Instance   string         `json:"instance"`
	Workflow   string         `json:"workflow"`
	Definition string         `json:"definition"` // content hash
	Issue      instance.Issue `json:"issue"`

	State          string        `json:"state"`
	Kind           workflow.Kind `json:"kind"`
	Owner          string        `json:"owner"` // empty: no role works here
	EnteredAt      time.Time     `json:"entered_at"`
	PreviousStates []string      `json:"previous_states"` // oldest first
	Visits         []Visit       `json:"visits"`
	Iteration      int           `json:"iteration"` // number of moves
	Attempt        int           `json:"attempt"`   // entries into the state, with this one
	Returns        int           `json:"returns"`   // moves into a state that was entered before
	Loop           bool          `json:"loop"`

	Claim      *Claim          `json:"claim"` // null: not claimed
	Work       uint64          `json:"work"`  // sequence that last dispatched the work
	Faults     int             `json:"faults"`
	Paused     bool            `json:"paused"`
	Closed     instance.Closed `json:"closed"` // ended, cancelled, or empty
	moveFailed bool            // the newest move was a failure of the work
	Reason     string          `json:"reason"`
	// Failed reports that it ended without success: a person cancelled it, or its last move was a failure.
	Failed        bool   `json:"failed"`
	FailureReason string `json:"failureReason"` // empty unless Failed

	Questions  []instance.Question  `json:"questions"`
	Notes      []instance.NoteEntry `json:"notes"`
	LastState  string               `json:"last_state"`
	LastResult *instance.Result     `json:"last_result"` // null: no report yet
	Evidence   []instance.Evidence  `json:"evidence"`
	Failure    *Failure             `json:"failure"` // null: no failure
	// QualityGatesPassed are the names of the checks that pass on the newest commit.
	QualityGatesPassed []string `json:"quality_gates_passed"`
	// BlockingIssues are the reasons that it is not done, each a sentence; empty: none, or it is done.
	BlockingIssues []string `json:"blocking_issues"`
	Spend          Spend    `json:"spend"`

	Base      string              `json:"base"`
	Head      string              `json:"head"`
	Shown     bool                `json:"shown"`    // a test failed on the base and passes on the head
	Unproven  string              `json:"unproven"` // why no test shows the change; empty if one does, or if there is no change
	Tests     []verdict.ShownTest `json:"tests"`    // that show it, each with the commits
	proof     instance.Proof
	Bundles   []Bundle            `json:"bundles"`
	Artifacts []instance.Artifact `json:"artifacts"`

	Worker       string                `json:"worker"` // the role that works now: the owner, or the role that is asked
	Vars         map[string]string     `json:"vars"`
	Sections     map[string]string     `json:"sections"` // of the document: JSON by name
	Failures     map[string]int        `json:"failures"` // in a row, by state
	Escalations  []instance.Escalation `json:"escalations"`
	Parked       *Parked               `json:"parked"`               // null: not parked
	LastFault    *standing.Fault       `json:"last_fault,omitempty"` // in this state; of show and explain
	Rest         *instance.Rest        `json:"rest,omitempty"`       // nobody gets the work before; of show and explain
	Parent       string                `json:"parent"`
	Links        []Link                `json:"links"`
	TimeoutS     float64               `json:"timeout_s"`       // of the state; 0: none
	Level        workflow.Level        `json:"level"`           // of the newest deadline that passed
	NextDeadline *Deadline             `json:"next_deadline"`   // null: none
	TimeInStateS float64               `json:"time_in_state_s"` // seconds
	TotalTimeS   float64               `json:"total_time_s"`

	OpenedAt  time.Time `json:"opened_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Seq       uint64    `json:"seq"`

	whole instance.Instance
	past  standing.Past
}

// Parked is why the instance is parked, and until when. Without a time it is parked
// until a signal.
type Parked struct {
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason"`
	// WaitsFor is place or budget if it is parked in place of a claim.
	WaitsFor instance.Wait `json:"waits_for,omitempty"`
}

// Deadline is the next deadline of the state.
type Deadline struct {
	Level workflow.Level `json:"level"` // warning, alert, escalation
	At    time.Time      `json:"at"`
}

// Link is an instance that this one opened (child) or has to wait for (after).
type Link struct {
	Instance string `json:"instance"`
	Kind     string `json:"kind"`
	Workflow string `json:"workflow"`
	State    string `json:"state"`
	Ended    bool   `json:"ended"`
	Well     bool   `json:"well"`
}

// Visit counts the entries into a state and the time in it, without the current one.
type Visit struct {
	State  string `json:"state"`
	Count  int    `json:"count"`
	Millis int64  `json:"millis"`
}

// Claim is the claim on the work.
type Claim struct {
	Role  string    `json:"role"`
	Agent string    `json:"agent"`
	Token uint64    `json:"token"`
	At    time.Time `json:"at"`
	Lease time.Time `json:"lease"`
}

// Failure is the signature of the last failure and how often in a row it came back.
type Failure struct {
	Signature string `json:"signature"`
	Repeats   int    `json:"repeats"`
}

// Bundle is an object of the store with commits up to Head.
type Bundle struct {
	Object string `json:"object"`
	Head   string `json:"head"`
}

// Spend is the cost of the work.
type Spend struct {
	TokensIn  int64   `json:"tokens_in"`
	TokensOut int64   `json:"tokens_out"`
	USD       float64 `json:"usd"`
	WallMS    int64   `json:"wall_ms"`
}

// Of converts the orchestrator's reply.
func Of(p *pb.Instance) Instance {
	in := Instance{
		Instance: p.GetInstance(), Workflow: p.GetWorkflow(), Definition: p.GetDefinition(), Issue: wire.ToIssue(p.GetIssue()),
		State: p.GetState(), Kind: workflow.Kind(p.GetKind()), Owner: p.GetOwner(), EnteredAt: when(p.GetEnteredAt()),
		PreviousStates: list(p.GetPreviousStates(), func(s string) string { return s }),
		Visits: list(p.GetVisits(), func(v *pb.Visit) Visit {
			return Visit{v.GetState(), int(v.GetCount()), int64(v.GetMillis())}
		}),
		Iteration: int(p.GetIteration()), Attempt: int(p.GetAttempt()), Returns: int(p.GetReturns()), Loop: p.GetLoop(),
		Work: p.GetWork(), Faults: int(p.GetFaults()), Paused: p.GetPaused(), Closed: instance.Closed(p.GetClosed()), moveFailed: p.GetFailed(), Reason: p.GetReason(),
		Questions: list(p.GetQuestions(), wire.ToQuestion), Notes: list(p.GetNotes(), wire.ToNote), LastState: p.GetLastState(),
		Evidence: some(wire.ToEvidence(p.GetEvidence())),
		Spend: Spend{int64(p.GetSpend().GetTokensIn()), int64(p.GetSpend().GetTokensOut()), p.GetSpend().GetUsd(),
			int64(p.GetSpend().GetWallMs())},
		Base: p.GetBase(), Head: p.GetHead(),
		Bundles: list(p.GetBundles(), func(b *pb.Bundle) Bundle { return Bundle{b.GetObject(), b.GetHead()} }),
		Artifacts: list(p.GetArtifacts(), func(a *pb.Artifact) instance.Artifact {
			return instance.Artifact{Name: a.GetName(), Object: a.GetObject(), Size: int64(a.GetSize()), SHA256: a.GetSha256()}
		}),
		OpenedAt: when(p.GetOpenedAt()), UpdatedAt: when(p.GetUpdatedAt()), Seq: p.GetSeq(), whole: wire.ToInstance(p),
	}
	in.proof = instance.ProofOf(in.Evidence, in.Base, in.Head)
	in.Shown, in.Unproven, in.Tests = in.proof.Shown, in.proof.Reason, some(in.proof.Judgement.Tests)
	if c := p.GetClaim(); c != nil {
		in.Claim = &Claim{c.GetRole(), c.GetAgent(), uint64(c.GetToken()), when(c.GetAt()), when(c.GetLease())}
	}
	if p.GetLastResult() != nil {
		r := wire.ToResult(p.GetLastResult())
		in.LastResult = &r
	}
	if f := p.GetFailure(); f != nil {
		in.Failure = &Failure{f.GetSignature(), int(f.GetRepeats())}
	}
	in.Worker, in.Parent = p.GetWorker(), p.GetParent()
	in.Vars, in.Sections = object(p.GetVars()), object(p.GetSections())
	in.Failures = map[string]int{}
	for state, n := range p.GetFailures() {
		in.Failures[state] = int(n)
	}
	in.Escalations = list(p.GetEscalations(), func(e *pb.Escalation) instance.Escalation {
		return instance.Escalation{Number: int(e.GetNumber()), Agent: e.GetAgent(), Reason: e.GetReason(), RequiresHuman: e.GetRequiresHuman(),
			At: when(e.GetAt()), Resolved: e.GetResolved(), Resolution: e.GetResolution(), By: e.GetBy()}
	})
	in.Links = list(p.GetLinks(), func(l *pb.Link) Link {
		return Link{l.GetInstance(), l.GetKind(), l.GetWorkflow(), l.GetState(), l.GetEnded(), l.GetWell()}
	})
	if k := p.GetParked(); k != nil {
		in.Parked = &Parked{when(k.GetUntil()), k.GetReason(), instance.Wait(k.GetWaitsFor())}
	}
	if d := p.GetNextDeadline(); d != nil {
		in.NextDeadline = &Deadline{workflow.Level(d.GetLevel()), when(d.GetAt())}
	}
	in.Level, in.TimeoutS = workflow.Level(p.GetLevel()), p.GetTimeout().AsDuration().Seconds()
	if in.Failed = in.Closed == instance.Cancelled || in.Closed != "" && in.moveFailed; in.Failed {
		in.FailureReason = in.Reason
	}
	in.QualityGatesPassed, in.BlockingIssues = in.gatesPassed(), in.blocking()
	in.TimeInStateS, in.TotalTimeS = p.GetTimeInState().AsDuration().Seconds(), p.GetTotalTime().AsDuration().Seconds()
	return in
}

// Open returns the unanswered questions to people.
func (in Instance) Open() []instance.Question {
	var open []instance.Question
	for _, q := range in.Questions {
		if !q.Answered && !q.Withdrawn && q.To == "" {
			open = append(open, q)
		}
	}
	return open
}

// Held returns the escalation that people have to resolve, if there is one.
func (in Instance) Held() (instance.Escalation, bool) {
	for _, e := range in.Escalations {
		if e.RequiresHuman && !e.Resolved {
			return e, true
		}
	}
	return instance.Escalation{}, false
}

// Working reports whether an agent has a lease at t.
func (in Instance) Working(t time.Time) bool { return in.Claim != nil && t.Before(in.Claim.Lease) }

func when(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

// list converts a list. An empty one is [] in JSON, not null.
func list[A, B any](as []A, f func(A) B) []B {
	bs := make([]B, len(as))
	for i, a := range as {
		bs[i] = f(a)
	}
	return bs
}

// object clones a map. An empty one is {} in JSON, not null.
func object(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return maps.Clone(m)
}

func some[A any](as []A) []A { return append([]A{}, as...) }
