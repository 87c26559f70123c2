// Package verdict judges a change by its tests, one test at a time, against the
// code before the change. It is pure: it reads runs and returns a judgement.
package verdict

// Outcome is the result of one test in one run.
type Outcome string

// The outcomes. A test that a run does not report has none.
const (
	Pass Outcome = "pass"
	Fail Outcome = "fail"
	Skip Outcome = "skip"
)

// Cause is why a test failed, as far as its output shows.
type Cause string

// The causes. Only an assertion shows that the code behaves wrongly.
const (
	Assertion Cause = "assertion" // the test ran and failed
	Compile   Cause = "compile"   // the test, or a file that it imports, could not be compiled or loaded
	Timeout   Cause = "timeout"   // the test did not end in time
	Unknown   Cause = "unknown"   // the output does not show it
)

// Test is one test of a run.
type Test struct {
	Name    string // unique within the run, as its runner selects it, with the package or file before it
	File    string // the test's file, relative to the repository's root; empty if the runner does not print it
	Outcome Outcome
	Cause   Cause  // of a failure
	Output  string // of a failure: its first lines, without colours and paths of the machine
	Missing string // of a failure to compile: the name that is not defined; empty if the output does not name it
}

// Run is one run of a test command on one commit.
type Run struct {
	Commit  string
	Command string
	Only    []string // the tests that were asked for by name; empty: all
	OK      bool     // exit code and report together: the command ended with 0, and no test is reported as failing
	Named   bool     // the runner prints the names of all tests that ran, passing ones included
	Tests   []Test   // sorted by name
	Output  string   // the end of the output, cleaned; compared where no names are printed
}
