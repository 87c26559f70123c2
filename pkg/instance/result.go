package instance

import (
	"math"
	"time"
)

// Status is how a step ended, in its owner's judgement.
type Status string

const (
	Success Status = "success"
	Failure Status = "failure"
	Blocked Status = "blocked" // cannot go on without something from outside
)

// Result is what an owner reports for the state it worked in. A brain fills
// the judgement; the runtime fills what can be checked: Head, Bundle, Evidence.
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
	// Sections are parts of the instance's document that this step wrote: JSON by name.
	Sections map[string]string `json:"sections,omitempty"`
}

// QuestionAnswer answers one numbered question.
type QuestionAnswer struct {
	Question int    `json:"question"` // its number
	Text     string `json:"text"`
	By       string `json:"by,omitempty"`
}

// Evidence is a check that no brain made: by the runtime, or of the world
// outside; on one commit.
type Evidence struct {
	Name     string   `json:"name"` // "tests"
	OK       bool     `json:"ok"`
	Commit   string   `json:"commit"`
	Command  string   `json:"command"`
	ExitCode int      `json:"exit_code"`
	Passed   int      `json:"passed"`
	Failed   []string `json:"failed,omitempty"` // names
	Output   string   `json:"output,omitempty"` // the telling part, capped
	Millis   int64    `json:"millis,omitempty"`

	// Verdict is finer than OK where that is needed; empty, it follows from OK.
	Verdict Verdict `json:"verdict,omitempty"`
	// Data is the snapshot of the world it was made from, in short texts.
	Data map[string]string `json:"data,omitempty"`
}

// Verdict is what a check came to. VerdictUnknown is never read as VerdictPass.
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
}

// valid refuses what would take a budget back or blind it: negative costs, NaN, infinity.
func (s Cost) valid() bool {
	return s.TokensIn >= 0 && s.TokensOut >= 0 && s.USD >= 0 && s.USD <= math.MaxFloat64 && s.WallMS >= 0
}

// Add returns the sum of two costs.
func (s Cost) Add(o Cost) Cost {
	return Cost{s.TokensIn + o.TokensIn, s.TokensOut + o.TokensOut, s.USD + o.USD, s.WallMS + o.WallMS}
}

// Issue is the report an instance was opened with.
type Issue struct {
	Repo   string   `json:"repo,omitempty"`   // owner/name on the forge
	Number int      `json:"number,omitempty"` // 0: not on a forge
	Title  string   `json:"title"`
	Body   string   `json:"body"`
	Labels []string `json:"labels,omitempty"`
	Author string   `json:"author,omitempty"`
	URL    string   `json:"url,omitempty"`
}

// Question was asked of people or, if To is set, of another role. Numbers count
// from 1 within an instance.
type Question struct {
	Number   int       `json:"number"`
	From     string    `json:"from"` // the role
	To       string    `json:"to,omitempty"`
	Text     string    `json:"text"`
	AskedAt  time.Time `json:"asked_at"`
	Answered bool      `json:"answered"`
	Answer   string    `json:"answer,omitempty"`
	By       string    `json:"by,omitempty"`

	// Withdrawn: the instance moved on before the role it was put to answered.
	Withdrawn bool `json:"withdrawn,omitempty"`
}

// NoteEntry is something worth keeping that moves nothing.
type NoteEntry struct {
	Author string    `json:"author"`
	Kind   string    `json:"kind"` // learning, comment, warning, …
	Text   string    `json:"text"`
	At     time.Time `json:"at"`
}
