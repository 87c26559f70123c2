package rules

import (
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
)

// Standing tells people who asked where an instance is, and, with Explain, what would
// move it.
type Standing struct {
	Instance, Workflow, State, About string

	Why   string        // what it does, or waits for
	For   time.Duration // since when; 0: that says nothing
	Open  []instance.Question
	Pull  int    // its pull request; 0: there is none
	Spent string // what it has cost; empty: nothing that is known

	Explain bool
	Failed  string   // what failed last
	Moves   []string // what would move it
	Next    []string // the states that the table permits
}

// Text is the comment.
func (s Standing) Text() string { return write("standing.md", s) }

// Since is For for people.
func (s Standing) Since() string { return span(s.For) }

// Told is what people are told who gave a command: Why is what was wrong with it, else
// Text is the answer, Markdown that is safe already.
type Told struct{ Given, Why, Text string }

// Commanded answers the commands of a comment.
func Commanded(all []Told) string { return write("command.md", all) }
