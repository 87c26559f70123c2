// Package yamlfile reads a YAML file whose keys are known, and collects everything that is
// wrong with it, each with its line.
package yamlfile

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/base/yamltext"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Reader collects what is wrong with a file. It is made for one file and one goroutine.
type Reader struct {
	File     string // its name, for people
	problems []error
}

// Document keeps the tree of a text that is decoded into it.
type Document struct{ Body ast.Node }

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (d *Document) UnmarshalYAML(n ast.Node) error {
	d.Body = n
	return nil
}

// Err joins a workflow.Problem for everything that is wrong.
func (r *Reader) Err() error { return errors.Join(r.problems...) }

// Problems counts what is wrong so far.
func (r *Reader) Problems() int { return len(r.problems) }

// Add reports that something is wrong at a line.
func (r *Reader) Add(at workflow.Position, format string, args ...any) {
	r.problems = append(r.problems, workflow.Problem{At: at, Text: fmt.Sprintf(format, args...)})
}

// Top is the first line of the file.
func (r *Reader) Top() workflow.Position { return workflow.Position{File: r.File, Line: 1} }

// At is the line where a node starts.
func (r *Reader) At(n ast.Node) workflow.Position {
	p := r.Top()
	if t := yamltext.Start(n).GetToken(); t != nil && t.Position != nil {
		p.Line = t.Position.Line
	}
	return p
}

// Want reports what a node should be.
func (r *Reader) Want(n ast.Node, want string) { r.Add(r.At(n), "want %s", want) }

// Unknown reports a name that is none of the known ones. The error names its kind, what.
func (r *Reader) Unknown(at workflow.Position, what, name string, known []string) {
	text := fmt.Sprintf("unknown %s %s", what, Quoted(name))
	r.problems = append(r.problems, workflow.Problem{At: at, Text: text, Meant: workflow.Nearest(name, known)})
}

// Syntax reports a text that is no YAML.
func (r *Reader) Syntax(err error) {
	at := r.Top()
	if e, ok := errors.AsType[yaml.Error](err); ok && e.GetToken() != nil {
		at.Line = e.GetToken().Position.Line
		err = errors.New(e.GetMessage())
	}
	r.Add(at, "not YAML: %s", sanitize.TerminalLine(err.Error()))
}

// Entries calls each for every key of a mapping, in the order of the file.
func (r *Reader) Entries(n ast.Node, each func(key string, at workflow.Position, value ast.Node)) {
	mapping := yamltext.Entries(n, func(key *ast.StringNode, value ast.Node) {
		each(key.Value, r.At(key), value)
	}, func(key ast.Node, fault yamltext.Fault) {
		switch fault {
		case yamltext.NoName:
			r.Want(key, "a name")
		case yamltext.Twice:
			r.Add(r.At(key), "%s is there twice", Quoted(key.(*ast.StringNode).Value))
		case yamltext.NoValue:
			r.Add(r.At(key), "%s has no value", Quoted(key.(*ast.StringNode).Value))
		}
	})
	if !mapping {
		r.Want(n, "keys with values")
	}
}

// Quoted returns the beginning of a text in quotation marks.
func Quoted(s string) string {
	const most = 60
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.Quote(s)
}
