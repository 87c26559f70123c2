package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// The verbs.
const (
	Approve = "approve"
	Answer  = "answer"
	Retry   = "retry"
	Hold    = "hold"
	Unhold  = "unhold"
	Pause   = "pause"
	Resume  = "resume"
	Cancel  = "cancel"
	Merge   = "merge"
	Rebase  = "rebase"
	Plan    = "plan"
	Status  = "status"
	Explain = "explain"
	Budget  = "budget"
	Help    = "help"
)

// Verb is a verb, and what it takes.
type Verb struct {
	Name  string
	Takes string // the words that follow, for people; empty: none may
	Does  string
	Least string // the permission on the repository that it takes
}

// Verbs returns the verbs, and by default who may give them.
func Verbs() []Verb {
	return []Verb{
		{Answer, "[Q1:] TEXT", "answers a question, or what was put to people; the lines below belong to it", "write"},
		{Approve, "[WORDS]", "approves an issue that waits for approval", "write"},
		{Retry, "[REASON]", "gives the work out once more", "write"},
		{Pause, "[REASON]", "keeps the work from being given out", "write"},
		{Resume, "[REASON]", "lets it go on", "write"},
		{Cancel, "[REASON]", "ends the work where it stands", "write"},
		{Hold, "", "labels the pull request, so that it is not merged", "write"},
		{Unhold, "", "takes that label off", "write"},
		{Merge, "", "has the pull request merged at its present commit, once every gate passes", "write"},
		{Rebase, "", "brings what its base has more into the pull request, by a merge: nothing is forced", "write"},
		{Budget, "+5usd", "lets the work cost more: dollars, also as +5, or tokens as +200000tokens", "maintain"},
		{Plan, "", "shows the findings, the steps and the criteria of the result", "read"},
		{Status, "", "shows the state and the cost", "read"},
		{Explain, "", "explains why it does not move, and what would move it", "read"},
		{Help, "", "lists the commands", "read"},
	}
}

// Roles returns the permissions that a verb may take, the lesser first.
func Roles() []string { return []string{"anyone", "read", "triage", "write", "maintain", "admin"} }

// Grammar is the name of the commands, and who may give which.
type Grammar struct {
	Name  string // the word after the slash; empty: there are no commands
	verbs []Verb
}

// NewGrammar returns the grammar in which the verbs of who take another permission.
func NewGrammar(name string, who map[string]string) (Grammar, error) {
	g := Grammar{Name: name, verbs: Verbs()}
	if strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}) {
		return g, fmt.Errorf("%q is no word for commands: want letters, digits, - and _", name)
	}
	for verb, role := range who {
		i := slices.IndexFunc(g.verbs, func(v Verb) bool { return v.Name == verb })
		if i < 0 {
			return g, fmt.Errorf("%q is no command%s", verb, meant(verb, g.names()))
		}
		if !slices.Contains(Roles(), role) {
			return g, fmt.Errorf("%s=%s: want one of %s", verb, role, strings.Join(Roles(), ", "))
		}
		g.verbs[i].Least = role
	}
	return g, nil
}

// Parse is the function Parse with the grammar's name.
func (g Grammar) Parse(comment string) (commands []Command, rest string) {
	return Parse(g.Name, comment)
}

// Calls is the function Calls with the grammar's name.
func (g Grammar) Calls(comment string) bool { return Calls(g.Name, comment) }

// Readable is the function Check.
func (g Grammar) Readable(comment string) error { return Check(comment) }

// All returns the verbs.
func (g Grammar) All() []Verb { return g.verbs }

// Check returns the verb of a command. The error says what is wrong with it, and what
// would be right.
func (g Grammar) Check(c Command) (Verb, error) {
	name := cmp.Or(c.Verb, Help)
	i := slices.IndexFunc(g.verbs, func(v Verb) bool { return v.Name == name })
	switch {
	case i < 0:
		return Verb{}, &Wrong{fmt.Sprintf("is no command%s", meant(name, g.names()))}
	case g.verbs[i].Takes == "" && c.Words != "":
		return g.verbs[i], &Wrong{"stands alone on its line"}
	case c.Words == "" && (name == Answer || name == Budget):
		return g.verbs[i], &Wrong{"wants more: " + name + " " + g.verbs[i].Takes}
	}
	return g.verbs[i], nil
}

// Wrong is what is wrong with a command.
type Wrong struct{ What string }

func (e *Wrong) Error() string { return e.What }

func (g Grammar) names() (all []string) {
	for _, v := range g.verbs {
		all = append(all, v.Name)
	}
	return all
}

// meant returns "; did you mean NAME?" for the nearest name, or "".
func meant(name string, known []string) string {
	if len(name) > 64 {
		return ""
	}
	if near := workflow.Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}
