// Package view is what people and programs see of an instance: plain values
// whose JSON is an interface of the command line, and the pages made of them.
package view

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Instance is one work item: `show --json`.
type Instance struct {
	Instance   string         `json:"instance"`
	Workflow   string         `json:"workflow"`
	Definition string         `json:"definition"` // content hash
	Issue      instance.Issue `json:"issue"`

	State          string        `json:"state"`
	Kind           workflow.Kind `json:"kind"`
	Owner          string        `json:"owner"` // empty: nobody works here
	EnteredAt      time.Time     `json:"entered_at"`
	PreviousStates []string      `json:"previous_states"` // oldest first
	Visits         []Visit       `json:"visits"`
	Iteration      int           `json:"iteration"` // moves made
	Attempt        int           `json:"attempt"`   // entries into the state, this one included
	Returns        int           `json:"returns"`   // moves into a state entered before
	Loop           bool          `json:"loop"`

	Claim  *Claim          `json:"claim"` // null: nobody took the work yet
	Work   uint64          `json:"work"`  // sequence that last gave the owner something to do
	Faults int             `json:"faults"`
	Paused bool            `json:"paused"`
	Closed instance.Closed `json:"closed"` // ended, cancelled, or empty
	Reason string          `json:"reason"`

	Questions  []instance.Question `json:"questions"`
	Notes      []instance.Note     `json:"notes"`
	LastState  string              `json:"last_state"`
	LastResult *instance.Result    `json:"last_result"` // null: nobody reported yet
	Evidence   []instance.Evidence `json:"evidence"`
	Failure    *Failure            `json:"failure"` // null: none stands
	Spend      Spend               `json:"spend"`

	Base      string              `json:"base"`
	Head      string              `json:"head"`
	Bundles   []Bundle            `json:"bundles"`
	Artifacts []instance.Artifact `json:"artifacts"`

	OpenedAt  time.Time `json:"opened_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Seq       uint64    `json:"seq"`
}

// Visit counts entries into a state and the time there, the current stay excluded.
type Visit struct {
	State  string `json:"state"`
	Count  int    `json:"count"`
	Millis int64  `json:"millis"`
}

// Claim is who has the work, and until when.
type Claim struct {
	Role  string    `json:"role"`
	Agent string    `json:"agent"`
	Token uint64    `json:"token"`
	At    time.Time `json:"at"`
	Lease time.Time `json:"lease"`
}

// Failure is a signature and how often in succession it came back.
type Failure struct {
	Signature string `json:"signature"`
	Repeats   int    `json:"repeats"`
}

// Bundle is an object in the store that carries commits up to Head.
type Bundle struct {
	Object string `json:"object"`
	Head   string `json:"head"`
}

// Spend is what the work cost so far.
type Spend struct {
	TokensIn  int64   `json:"tokens_in"`
	TokensOut int64   `json:"tokens_out"`
	USD       float64 `json:"usd"`
	WallMS    int64   `json:"wall_ms"`
}

// Of makes a view of the orchestrator's answer.
func Of(p *pb.Instance) Instance {
	in := Instance{
		Instance: p.GetInstance(), Workflow: p.GetWorkflow(), Definition: p.GetDefinition(), Issue: wire.ToIssue(p.GetIssue()),
		State: p.GetState(), Kind: workflow.Kind(p.GetKind()), Owner: p.GetOwner(), EnteredAt: when(p.GetEnteredAt()),
		PreviousStates: list(p.GetPreviousStates(), func(s string) string { return s }),
		Visits: list(p.GetVisits(), func(v *pb.Visit) Visit {
			return Visit{v.GetState(), int(v.GetCount()), int64(v.GetMillis())}
		}),
		Iteration: int(p.GetIteration()), Attempt: int(p.GetAttempt()), Returns: int(p.GetReturns()), Loop: p.GetLoop(),
		Work: p.GetWork(), Faults: int(p.GetFaults()), Paused: p.GetPaused(), Closed: instance.Closed(p.GetClosed()), Reason: p.GetReason(),
		Questions: list(p.GetQuestions(), wire.ToQuestion), Notes: list(p.GetNotes(), wire.ToNote), LastState: p.GetLastState(),
		Evidence: some(wire.ToEvidence(p.GetEvidence())),
		Spend:    Spend{int64(p.GetSpend().GetTokensIn()), int64(p.GetSpend().GetTokensOut()), p.GetSpend().GetUsd(), int64(p.GetSpend().GetWallMs())},
		Base:     p.GetBase(), Head: p.GetHead(),
		Bundles: list(p.GetBundles(), func(b *pb.Bundle) Bundle { return Bundle{b.GetObject(), b.GetHead()} }),
		Artifacts: list(p.GetArtifacts(), func(a *pb.Artifact) instance.Artifact {
			return instance.Artifact{Name: a.GetName(), Object: a.GetObject(), Size: int64(a.GetSize()), SHA256: a.GetSha256()}
		}),
		OpenedAt: when(p.GetOpenedAt()), UpdatedAt: when(p.GetUpdatedAt()), Seq: p.GetSeq(),
	}
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
	return in
}

// Open returns the questions nobody has answered.
func (in Instance) Open() []instance.Question {
	var open []instance.Question
	for _, q := range in.Questions {
		if !q.Answered {
			open = append(open, q)
		}
	}
	return open
}

// Working reports whether somebody's lease lives at t.
func (in Instance) Working(t time.Time) bool { return in.Claim != nil && t.Before(in.Claim.Lease) }

func when(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

// list translates a list; an empty one is [] in JSON and not null.
func list[A, B any](as []A, f func(A) B) []B {
	bs := make([]B, len(as))
	for i, a := range as {
		bs[i] = f(a)
	}
	return bs
}

func some[A any](as []A) []A { return append([]A{}, as...) }
