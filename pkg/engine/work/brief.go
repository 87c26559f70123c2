package work

import (
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
)

// Brief is what the runtime knows of the repository and of the work so far. Prompts
// have it; the agent protocol does not.
type Brief struct {
	Steps     []PastStep          // oldest first; the newest is that of the last result
	Test      string              // the command that tests the repository; empty: none was found
	Guidance  []File              // what the repository says to those who change it, from Base
	Kept      []string            // files of other roles, and of the tests, that the role's change is judged without
	Forbidden []string            // patterns of paths that no change may touch
	Criteria  []string            // commands that have to pass in the end
	Templates []Template          // of the repository, from Base
	Learnings []learning.Learning // of the repository, those that fit the work
}

// PastStep is a step of the work that has ended.
type PastStep struct {
	State      string
	Role       string
	Status     string
	Confidence float64
	Said       string // the summary, and what was found
	To         string // where the work went on; empty: nowhere yet
	Why        string // the reason of that
}

// File is a file of the repository.
type File struct {
	Path string
	Text string // its beginning
	Cut  int    // bytes that are left out
}

// Template is the template of a prompt.
type Template struct {
	Name string // ROLE.STATE, ROLE or default
	File string // where it is, for people
	Text string
}

const (
	maxSteps = 30      // of a brief: the newest
	maxSaid  = 4 << 10 // bytes of what a step said
)

// PastSteps returns the steps that an instance's commits tell of, oldest first, with
// where the work went on after each. Answers to other roles are none.
func PastSteps(commits []instance.Commit) []PastStep {
	var steps []PastStep
	open := false // the newest step has led nowhere yet
	for _, c := range commits {
		for _, e := range c.Events {
			switch e := e.(type) {
			case instance.Reported:
				if e.Question != 0 {
					continue
				}
				said := strings.Join(append([]string{e.Result.Summary}, e.Result.IssuesFound...), "\n")
				if over := len(said) - maxSaid; over > 0 {
					said = strings.ToValidUTF8(said[:maxSaid], "") + fmt.Sprintf("\n[… %d bytes left out …]", over)
				}
				steps = append(steps, PastStep{State: e.State, Role: e.Role, Status: string(e.Result.Status),
					Confidence: e.Result.ConfidenceScore, Said: said})
				open = true
			case instance.Moved:
				if open {
					steps[len(steps)-1].To, steps[len(steps)-1].Why, open = e.To, e.Reason, false
				}
			}
		}
	}
	return steps[max(0, len(steps)-maxSteps):]
}
