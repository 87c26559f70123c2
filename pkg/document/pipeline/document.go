// Package pipeline is the document that the roles of the pipeline lifecycle share. It says
// how that is rendered from an instance, and what of it each role may write. It says how
// the document is read back from a program that knows nothing else of Signalbox. Names,
// types and enumerations are those of the lifecycle's source.
package pipeline

import "time"

// Version is the version of the document's form.
const Version = "1.0"

// Document is the state of one run. Schema describes its JSON form.
type Document struct {
	Version       string        `json:"version"`
	Issue         Issue         `json:"issue"`
	Pipeline      Pipeline      `json:"pipeline"`
	Triage        Triage        `json:"triage"`
	Analysis      Analysis      `json:"analysis"`
	Writer        Writer        `json:"writer"`
	Build         Build         `json:"build"`
	Review        Review        `json:"review"`
	Commit        Commit        `json:"commit"`
	Communication Communication `json:"communication"`
	Learnings     Learnings     `json:"learnings"`
}

// Issue is the report.
type Issue struct {
	Number       int          `json:"number"` // 0: on no forge
	Title        string       `json:"title"`
	URL          string       `json:"url"`
	Type         string       `json:"type"` // BUG_FIX, NEW_FEATURE or REFACTOR_STYLE
	OriginalBody string       `json:"original_body"`
	Labels       List[string] `json:"labels"`
}

// Pipeline is where the run is.
type Pipeline struct {
	StartedAt     time.Time `json:"started_at"`
	CurrentAgent  string    `json:"current_agent"`
	Attempt       int       `json:"attempt"` // of the writer, from 1
	MaxAttempts   int       `json:"max_attempts"`
	Status        Status    `json:"status"`
	BlockedReason string    `json:"blocked_reason,omitempty"` // only while blocked
	FailureReason string    `json:"failure_reason,omitempty"` // only when failed
}

// Status is how the run stands.
type Status string

const (
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Blocked    Status = "blocked"
)

// Verdict is the reviewer's. Only what is approved is committed.
type Verdict string

const (
	Approved  Verdict = "APPROVED"
	Rejected  Verdict = "REJECTED"
	NeedsInfo Verdict = "NEEDS_INFO"
)

// Communication is what roles asked each other and put to people.
type Communication struct {
	Questions   List[Question]   `json:"questions"`
	Escalations List[Escalation] `json:"escalations"`
}

// Question is one role's to another.
type Question struct {
	From     string  `json:"from"`
	To       string  `json:"to"`
	Question string  `json:"question"`
	Answered bool    `json:"answered"`
	Answer   *string `json:"answer"`
}

// Escalation was put to people.
type Escalation struct {
	Agent         string `json:"agent"`
	Reason        string `json:"reason"`
	RequiresHuman bool   `json:"requires_human"`
	Resolved      bool   `json:"resolved"`
}

// Learnings is what is worth keeping of the run.
type Learnings struct {
	SessionID    string            `json:"session_id"`
	Observations List[Observation] `json:"observations"`
	Outcome      *string           `json:"outcome"` // completed, failed or cancelled; null before that
}

// Observation is one of them.
type Observation struct {
	Agent   string `json:"agent"`
	Type    string `json:"type"`
	Content string `json:"content"`
}
