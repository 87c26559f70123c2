package view

import (
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Definition is the JSON of `definition export`.
type Definition struct {
	Workflow string  `json:"workflow"`
	Version  int     `json:"version"`
	Hash     string  `json:"hash"` // content hash, the identity
	Extends  string  `json:"extends,omitempty"`
	Initial  string  `json:"initial"`
	States   []State `json:"states"`
}

// State is a state of a lifecycle.
type State struct {
	Name    string  `json:"name"`
	About   string  `json:"about"`
	Owner   string  `json:"owner"` // empty: no role works here
	Kind    string  `json:"kind"`  // work, wait or final
	Timeout float64 `json:"timeout_s"`
	Next    []Move  `json:"next"`

	Work    workflow.WorkSpec            `json:"work,omitzero"`     // the owner's work in addition to thinking
	Answers map[string]workflow.WorkSpec `json:"answers,omitempty"` // by role: what the work of one that is asked something is
	Added   string                       `json:"added,omitempty"`   // why the state is there although the lifecycle's source does not have it
}

// Move is a permitted transition. Added is why the lifecycle has it although its
// source does not; it is empty for transitions of the source.
type Move struct {
	To    string `json:"to"`
	Added string `json:"added"`
}

// Export converts a definition.
func Export(d *workflow.Definition) Definition {
	return Definition{d.Name, d.Version, d.Hash, d.Extends, d.Initial, list(d.States, func(s workflow.State) State {
		return State{
			Name: s.Name, About: s.About, Owner: s.Owner, Kind: string(s.Kind), Timeout: s.Timeout.Seconds(),
			Next: list(s.Next, func(t workflow.Transition) Move { return Move{t.To, t.Added} }),
			Work: s.Work, Answers: s.Answers, Added: s.Added,
		}
	})}
}

// Definitions prints lifecycles without their states, one a line.
func Definitions(env *term.Env, defs []*workflow.Definition) error {
	t := env.Table("workflow", "version", "states", "initial", "extends", "hash")
	for _, d := range defs {
		if !env.JSON {
			t.Row(term.Cell{Style: term.Bold, Text: d.Name}, d.Version, len(d.States), d.Initial, d.Extends, d.Hash[:12])
			continue
		}
		line := struct {
			Workflow string `json:"workflow"`
			Version  int    `json:"version"`
			States   int    `json:"states"`
			Initial  string `json:"initial"`
			Extends  string `json:"extends"`
			Hash     string `json:"hash"`
		}{d.Name, d.Version, len(d.States), d.Initial, d.Extends, d.Hash}
		if err := env.Print(line); err != nil {
			return err
		}
	}
	if env.JSON {
		return nil
	}
	return t.Print()
}

// Verification is the JSON of `definition verify` for one definition.
type Verification struct {
	Target   string    `json:"target"`
	OK       bool      `json:"ok"`
	Problems []Problem `json:"problems"`
	Warnings []Problem `json:"warnings,omitempty"` // what is proven and seldom meant
}

// Problem is a problem of a definition and its place. Lines and columns count from 1;
// 0 is unknown.
type Problem struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Text   string `json:"text"`
	Meant  string `json:"meant,omitempty"` // the name that was probably meant

	full string
}

// Verdict converts the problems of a definition. Without any it is proven.
func Verdict(target string, problems []workflow.Problem) Verification {
	return Verification{Target: target, OK: len(problems) == 0, Problems: list(problems, problem)}
}

// Warned adds warnings to a verification.
func (v Verification) Warned(warnings []workflow.Problem) Verification {
	v.Warnings = list(warnings, problem)
	return v
}

func problem(p workflow.Problem) Problem {
	return Problem{p.At.File, p.At.Line, p.At.Column, p.Text, p.Meant, p.Error()}
}

// Print prints each problem on a line that begins with FILE:LINE:COLUMN, or that there
// is none.
func (v Verification) Print(env *term.Env) error {
	if env.JSON {
		return env.Print(v)
	}
	if v.OK {
		env.Printf("%s  %s\n", env.Paint(term.Good, "proven"), v.Target)
	}
	for _, p := range v.Problems {
		env.Printf("%s\n", term.Line(p.full))
	}
	for _, p := range v.Warnings {
		env.Printf("%s  %s\n", env.Paint(term.Wait, "warning"), term.Line(p.full))
	}
	return nil
}
