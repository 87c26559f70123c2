package instance

import (
	"math"

	"github.com/signalbox/signalbox/pkg/engine/question"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

// Status is how a step ended, in its owner's judgement.
type Status string

const (
	Success Status = "success"
	Failure Status = "failure"
	Blocked Status = "blocked" // cannot go on without something from outside
)

// Statuses returns all of them.
func Statuses() []Status { return []Status{Success, Failure, Blocked} }

// Result is an owner's report on the state it worked in. The brain fills the
// judgement; the agent's runtime fills what can be checked: Head, Bundle, Evidence.
// JSON names are wire names.
type Result struct {
	Status           Status            `json:"status"`
	ConfidenceScore  float64           `json:"confidence_score"` // 0 to 1
	IssuesFound      []string          `json:"issues_found,omitempty"`
	Next             string            `json:"next,omitempty"` // proposed next state
	Summary          string            `json:"summary,omitempty"`
	Questions        []string          `json:"questions,omitempty"` // for people
	Answers          []QuestionAnswer  `json:"answers,omitempty"`   // to open questions
	Head             string            `json:"head,omitempty"`      // commit the work is at after this step
	Base             string            `json:"base,omitempty"`      // commit the work started from; set once
	Bundle           string            `json:"bundle,omitempty"`    // object holding Head
	Evidence         []Evidence        `json:"evidence,omitempty"`
	FailureSignature string            `json:"failure_signature,omitempty"`
	Data             map[string]string `json:"data,omitempty"`
	Artifacts        []Artifact        `json:"artifacts,omitempty"`
	Spend            Cost              `json:"spend,omitzero"`
	// Sections are the sections of the document that this step wrote: JSON by name.
	Sections map[string]string `json:"sections,omitempty"`
	// Unjudged means that the brain failed: the runtime's checks count, no rule is asked,
	// and people get the summary. The runtime sets it.
	Unjudged bool `json:"unjudged,omitempty"`
	// Forms are the forms of the answers to Questions, by the question's text. A question
	// without one permits any words.
	Forms map[string]question.Wanted `json:"forms,omitempty"`
}

// QuestionAnswer answers one numbered question.
type QuestionAnswer struct {
	Question int    `json:"question"` // its number
	Text     string `json:"text"`
	By       string `json:"by,omitempty"`
}

// Evidence is a check on one git commit that no brain made: the agent's runtime or
// another system did.
type Evidence struct {
	Name     string   `json:"name"` // "tests"
	OK       bool     `json:"ok"`
	Commit   string   `json:"commit"`
	Command  string   `json:"command"`
	ExitCode int      `json:"exit_code"`
	Passed   int      `json:"passed"`
	Skipped  int      `json:"skipped,omitempty"`
	Failed   []string `json:"failed,omitempty"` // names
	Output   string   `json:"output,omitempty"` // the relevant part, capped
	Millis   int64    `json:"millis,omitempty"`

	// Verdict refines OK. If it is empty, EffectiveVerdict derives it from OK.
	Verdict Verdict `json:"verdict,omitempty"`
	// Data is what the check was made from, in short texts.
	Data map[string]string `json:"data,omitempty"`

	// Role and Agent made it, as the claim says under which it came. For a signal's,
	// Role is empty and Agent the sender. Both are empty in logs of before there were they.
	Role  string `json:"role,omitempty"`
	Agent string `json:"agent,omitempty"`

	// Judgement compares the tests with those of the base, one by one. Nil: nobody compared
	// them, as in older logs.
	Judgement *verdict.Judgement `json:"judgement,omitempty"`
	// Demo is the demonstration that ran with the tests. Nil: there is none.
	Demo *Demo `json:"demo,omitempty"`
}

// Verdict is the outcome of a check. VerdictUnknown never counts as VerdictPass.
type Verdict string

const (
	VerdictPass    Verdict = "pass"
	VerdictFail    Verdict = "fail"
	VerdictPending Verdict = "pending"
	VerdictUnknown Verdict = "unknown"
)

// EffectiveVerdict returns the verdict or, if there is none, the one that follows from OK.
func (e Evidence) EffectiveVerdict() Verdict {
	switch {
	case e.Verdict != "":
		return e.Verdict
	case e.OK:
		return VerdictPass
	}
	return VerdictFail
}

// Artifact is something a step left in the object store.
type Artifact struct {
	Name   string `json:"name"`
	Object string `json:"object"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Cost is what a step cost.
type Cost struct {
	TokensIn  int64   `json:"tokens_in,omitempty"`
	TokensOut int64   `json:"tokens_out,omitempty"`
	USD       float64 `json:"usd,omitempty"`
	WallMS    int64   `json:"wall_ms,omitempty"` // milliseconds
	Brain     string  `json:"brain,omitempty"`   // the brain; empty: not known, or several
}

// valid reports whether the cost can be added to a budget: no negative number, NaN or infinity.
func (s Cost) valid() bool {
	return s.TokensIn >= 0 && s.TokensOut >= 0 && s.USD >= 0 && s.USD <= math.MaxFloat64 && s.WallMS >= 0
}

// Zero reports whether nothing was spent, whatever thought.
func (s Cost) Zero() bool {
	s.Brain = ""
	return s == Cost{}
}

// Add returns the sum of two costs. It has the brain of both if that is one; a cost of
// nothing does not count.
func (s Cost) Add(o Cost) Cost {
	sum := Cost{s.TokensIn + o.TokensIn, s.TokensOut + o.TokensOut, s.USD + o.USD, s.WallMS + o.WallMS, s.Brain}
	switch {
	case s.Zero() && s.Brain == "":
		sum.Brain = o.Brain
	case !o.Zero() && o.Brain != s.Brain:
		sum.Brain = ""
	}
	return sum
}

// Total is what an instance has cost, whatever thought. It has no name: instances are
// many, and kept in memory.
type Total struct {
	TokensIn, TokensOut int64
	USD                 float64
	WallMS              int64 // milliseconds
}

// Cost returns the total as a cost.
func (t Total) Cost() Cost {
	return Cost{TokensIn: t.TokensIn, TokensOut: t.TokensOut, USD: t.USD, WallMS: t.WallMS}
}

// with returns the total after one more cost.
func (t Total) with(c Cost) Total {
	return Total{t.TokensIn + c.TokensIn, t.TokensOut + c.TokensOut, t.USD + c.USD, t.WallMS + c.WallMS}
}
