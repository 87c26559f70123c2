package prompt

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// cutName cuts the name of a template into role and state.
func cutName(name string) (role, state string, ok bool) {
	role, state, ok = strings.Cut(name, ".")
	if role == Default {
		role = "developer"
	}
	return role, cmp.Or(state, "implementing"), ok
}

// ExampleOf is Example, with what a lifecycle asks of the role in the state.
func ExampleOf(d *workflow.Definition, role, state string) work.Assignment {
	a := Example(role, state)
	Ask(&a, d)
	return a
}

// Ask fills in what a lifecycle asks of the assignment's role in its state.
func Ask(a *work.Assignment, d *workflow.Definition) {
	row, _ := d.State(a.State)
	a.Workflow, a.About, a.Policy = d.Name, row.About, d.Policy
	a.Work, a.Next, a.Writes = d.WorkOf(a.State, a.Role, false), d.Proposals(row), d.WrittenBy(a.Role)
}

// Example is an assignment that has something of everything. Prompts are shown and
// templates are checked with it.
func Example(role, state string) work.Assignment {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const base, head = "1f0c2d7a6f0c4c1f9a5b0e6d3c2b1a0f9e8d7c6b", "9b8a7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b"
	failing := instance.Evidence{Name: work.Tests, Commit: head, Command: "go test -json ./...", ExitCode: 1, Passed: 41,
		Failed: []string{"example.com/stats.TestMedianOfAnEvenCount"},
		Output: "--- FAIL: TestMedianOfAnEvenCount\n    stats_test.go:12: Median(1, 3) = 3, want 2",
		Role:   "tester", Data: map[string]string{work.Findings: "the change touches what tests it; tested without that: stats_test.go"}}
	red := failing
	red.Name, red.OK, red.Commit = work.Red, true, base
	lint := instance.Evidence{Name: work.Lint, OK: true, Commit: head, Command: "go vet ./...", Role: "tester"}
	unseen := instance.Evidence{Name: work.Base, Commit: base, Command: "go test -json ./...", ExitCode: 1}
	return work.Assignment{
		Protocol: work.Protocol, Instance: "acme/stats/42", Workflow: "issue", Role: role, State: state, Agent: role + "-1",
		Deadline: at.Add(time.Hour),
		About:    "The lifecycle's description of the state.", Iteration: 4, Attempt: 2, Failures: 1, Opened: at, Entered: at,
		Work: workflow.WorkSpec{},
		Issue: instance.Issue{Repo: "acme/stats", Number: 42, Title: "Median of an even count is wrong", Author: "ada", Permission: "read",
			Labels: []string{"bug"}, Body: "`Median(1, 3)` says 3. It should be 2, shouldn't it?",
			URL: "https://forge.example/acme/stats/issues/42"},
		Questions: []instance.Question{
			{Number: 1, From: "analyst", Text: "What is the median of nothing?", AskedAt: at, Answered: true, Answer: "An error.", By: "ada"},
			{Number: 2, From: "writer", To: "developer", Text: "Where is Median used?", AskedAt: at},
		},
		Notes:    []instance.NoteEntry{{Author: "grace", Kind: "comment", Text: "Please keep the allocation out of it.", At: at}},
		Warnings: []string{"go test -json ./... fails on the code as it is, before any change"},
		Previous: []string{"received", "analyzing_requirements", "creating_tests", "implementing", "running_tests"},
		Next:     []string{"running_tests", "failed"},
		Last: &instance.Result{Status: instance.Failure, ConfidenceScore: 0.9, Summary: "one test fails",
			IssuesFound: []string{"the mean of the two is not taken"}},
		Evidence: []instance.Evidence{failing, red, lint, unseen},
		Policy: map[string]any{"confidence_threshold": 0.85, "test_above": 0.9, "submit_above": 0.8, "red_first": "written",
			"test_changes": "aside", "max_iterations": 10},
		Vars:     map[string]string{"prNumber": "0"},
		Sections: map[string]json.RawMessage{"analysis": json.RawMessage(`{"problem_statement": "the median of an even count"}`)},
		Writes:   []string{"writer"},
		Escalations: []instance.Escalation{
			{Number: 1, Agent: "developer", Reason: "May the signature change?", RequiresHuman: true, At: at, Resolved: true, Resolution: "No.",
				By: "grace"},
			{Number: 2, Agent: "cto", Reason: "It keeps failing.", At: at},
			{Number: 3, Agent: "cto", Reason: "It fails still.", At: at, Resolved: true},
		},
		Base: base, Head: head, Branch: "signalbox/issue-42", Dir: "/the/work/tree", StateFile: "issue-state.json",
		Brief: work.Brief{
			Steps: []work.PastStep{
				{State: "analyzing_requirements", Role: "analyst", Status: "success", Confidence: 0.95, To: "creating_tests",
					Why:  "the requirements are clear",
					Said: "The median of an even count is the mean of the two in the middle.\n\n- Median(1, 3) is 2\n- Median() is an error"},
				{State: "implementing", Role: "developer", Status: "success", Confidence: 0.95, To: "running_tests",
					Why:  "the developer is confident; the tests run",
					Said: "take the upper one of the two"},
				{State: "running_tests", Role: "tester", Status: "failure", Confidence: 0.9, Said: "one test fails", To: "fixing_issues",
					Why: "tests fail"},
			},
			Test: "go test -json ./...", Kept: []string{"stats_test.go"}, Forbidden: []string{".github/workflows/**"},
			Criteria: []string{"go test -race ./..."},
			Guidance: []work.File{{Path: "AGENTS.md", Text: "Run gofmt. A test's name is a sentence.", Cut: 12}},
			Learnings: []learning.Learning{
				{ID: "7c1e09ab", Path: "stats.go", Text: "The functions are generated from stats.tmpl: change that, then run go generate.",
					By: "developer/developer-1", Instance: "acme/stats/31", State: learning.StateConfirmed, ConfirmedBy: "operator:grace"},
				{ID: "02d4c6e8", Text: "The tests need TZ=UTC.", By: "tester/tester-1", Instance: "acme/stats/40", Trusted: true, State: learning.StateProposed},
			},
		},
	}
}
