package rules

import "github.com/signalbox/signalbox/pkg/engine/instance"

// StatusAnswer is the answer to the commands status and explain: where an instance is, and
// what would move it.
type StatusAnswer struct {
	Instance, Workflow, State, About string

	Why  string // what it does, or waits for
	Open []instance.Question
	Pull int // its pull request; 0: there is none
	Cost instance.Cost

	Explain bool
	Failed  string   // what failed last
	Gates   []string // of a merge that do not pass, Markdown that is safe
	Moves   []string // what would move it
	Next    []string // the states that the table permits
}

// Text is the comment.
func (s StatusAnswer) Text() string { return write("status_answer.md", s) }

// Spent is what it cost so far, "" if nothing was metered.
func (s StatusAnswer) Spent() string { return spent(s.Cost) }

// CommandAnswer is the answer to a person who gave a command. Why is what was wrong with
// it; else Text is the answer, Markdown that is safe already.
type CommandAnswer struct{ Given, Why, Text string }

// Commanded answers the commands of a comment.
func Commanded(all []CommandAnswer) string { return write("command.md", all) }
