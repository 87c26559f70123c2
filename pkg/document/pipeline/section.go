package pipeline

import "strings"

// Triage is whether the issue is one for the pipeline.
type Triage struct {
	Completed       bool    `json:"completed"`
	Scope           string  `json:"scope"`      // SMALL, MEDIUM or LARGE
	Complexity      string  `json:"complexity"` // simple, moderate or complex
	ShouldProceed   bool    `json:"should_proceed"`
	RejectionReason *string `json:"rejection_reason"`
}

// Analysis has the changes to make, and the forbidden ones.
type Analysis struct {
	Completed       bool            `json:"completed"`
	Files           List[File]      `json:"files"`
	Patterns        List[string]    `json:"patterns"`
	TestRequirement TestRequirement `json:"test_requirement"`
	MustDo          List[string]    `json:"must_do"`
	MustNotDo       List[string]    `json:"must_not_do"`
	Brief           string          `json:"brief"`
}

// File is one that the change is about.
type File struct {
	Path    string `json:"path"`
	Purpose string `json:"purpose"`
	Action  string `json:"action"` // modify, create, delete, …
}

// TestRequirement is the test that the change needs.
type TestRequirement struct {
	Required    bool   `json:"required"`
	Type        string `json:"type"` // regression, unit, …
	Location    string `json:"location"`
	Description string `json:"description"`
}

// existingTest is the type of a requirement that a test of the repository fulfils.
const existingTest = "existing"

// wanted describes the required test.
func (t TestRequirement) wanted() string {
	if t.Location == "" {
		return t.Description
	}
	return strings.TrimSpace(t.Description + " (" + t.Location + ")")
}

// testMissing reports whether the analysis requires a new test that the change does not have.
func (d Document) testMissing() bool {
	t := d.Analysis.TestRequirement
	return d.Analysis.Completed && t.Required && t.Type != existingTest && !d.Writer.TestWritten
}

// Writer has the changes made.
type Writer struct {
	Completed        bool         `json:"completed"`
	Attempt          int          `json:"attempt"`
	Changes          List[Change] `json:"changes"`
	TestWritten      bool         `json:"test_written"`
	TestFile         string       `json:"test_file"`
	Summary          string       `json:"summary"`
	PreviousFeedback *string      `json:"previous_feedback"`
}

// Change is what was done to one file.
type Change struct {
	File        string `json:"file"`
	Description string `json:"description"`
}

// Build is what the repository's own checks say.
type Build struct {
	Completed       bool          `json:"completed"`
	TestsPassed     bool          `json:"tests_passed"`
	LintPassed      bool          `json:"lint_passed"`
	TypeCheckPassed bool          `json:"type_check_passed"`
	Errors          List[string]  `json:"errors"`
	CommandsRun     List[Command] `json:"commands_run"`
}

// Command is one of them, run.
type Command struct {
	Command  string `json:"command"`
	ExitCode int    `json:"exit_code"`
	Output   string `json:"output"`
}

// Review is the reviewer's judgement.
type Review struct {
	Completed         bool     `json:"completed"`
	Verdict           Verdict  `json:"verdict"`
	Findings          Findings `json:"findings"`
	FeedbackForWriter *string  `json:"feedback_for_writer"`
}

// Findings is what was found good and what was not.
type Findings struct {
	Good   List[string]  `json:"good"`
	Issues List[Finding] `json:"issues"`
}

// Finding is something wrong with the change.
type Finding struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Issue    string `json:"issue"`
	Severity string `json:"severity"` // minor, major, critical, …
}

// Commit is what was handed in.
type Commit struct {
	Completed   bool    `json:"completed"`
	Hash        *string `json:"hash"`
	Message     *string `json:"message"`
	Branch      string  `json:"branch"`
	Pushed      bool    `json:"pushed"`
	PRCreated   bool    `json:"pr_created"`
	PRURL       *string `json:"pr_url"`
	IssueClosed bool    `json:"issue_closed"`
}
