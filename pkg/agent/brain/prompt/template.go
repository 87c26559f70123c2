package prompt

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

//go:embed shipped/*.tmpl
var shipped embed.FS

// parts is the shipped file that only has parts, for all templates.
const parts = "parts.tmpl"

// maxTemplate limits the bytes of a template.
const maxTemplate = 64 << 10

// stepper is the name of the function that counts steps.
const stepper = "_step"

// errPlain is of the functions that would make plain text of what is quoted.
var errPlain = errors.New("prompts have no such function: write {{.Field}}")

// functions are those of templates. None of them reaches files, the environment or the
// network, and none makes a string of a Text.
func functions(p *page) template.FuncMap {
	refused := func(...any) (string, error) { return "", errPlain }
	return template.FuncMap{
		stepper: p.step,
		"join":  func(list []string) string { return strings.Join(list, ", ") },
		"has":   slices.Contains[[]string],
		"print": refused, "printf": refused, "println": refused, "html": refused, "js": refused, "urlquery": refused,
		"slice": refused, "call": refused,
	}
}

// compile parses a template with the shipped parts, which it may redefine.
func compile(t work.Template, p *page) (*template.Template, error) {
	if len(t.Text) > maxTemplate {
		return nil, fmt.Errorf("%s: larger than %d bytes", t.File, maxTemplate)
	}
	text, err := shipped.ReadFile("shipped/" + parts)
	if err != nil {
		panic(err) // it is part of the program
	}
	all := template.Must(template.New("shipped/" + parts).Option("missingkey=zero").Funcs(functions(p)).Parse(string(text)))
	made, err := all.New(t.File).Parse(t.Text)
	if err != nil {
		return nil, located(err)
	}
	for _, one := range made.Templates() {
		if one.Tree != nil && one.Root != nil {
			one.Root = counted(one.Root)
		}
	}
	return made, nil
}

var (
	executing = lazyregexp.New(`(?s): executing ".*?" at <(.*?)>: `)
	stepping  = lazyregexp.New(`<` + stepper + `>: error calling ` + stepper + `: `)
)

// located is an error of a template, on one line, which begins with FILE:LINE.
func located(err error) error {
	text := strings.TrimPrefix(err.Error(), "template: ")
	if at := stepping.FindStringIndex(text); at != nil { // the place is that of what is in the loop
		where, _, _ := strings.Cut(text, ": executing ")
		return errors.New(oneLine(where + ": " + text[at[1]:]))
	}
	return errors.New(oneLine(executing.ReplaceAllString(text, ": at $1: ")))
}

// counted returns a part of a template that counts itself, and so do those in it.
func counted(l *parse.ListNode) *parse.ListNode {
	if l == nil {
		return nil
	}
	nodes := []parse.Node{step(l.Pos)}
	for _, n := range l.Nodes {
		if b := branch(n); b != nil {
			b.List, b.ElseList = counted(b.List), counted(b.ElseList)
		}
		nodes = append(nodes, n)
	}
	l.Nodes = nodes
	return l
}

// branch returns what is common to if, with and range; nil for another node.
func branch(n parse.Node) *parse.BranchNode {
	switch n := n.(type) {
	case *parse.IfNode:
		return &n.BranchNode
	case *parse.WithNode:
		return &n.BranchNode
	case *parse.RangeNode:
		return &n.BranchNode
	}
	return nil
}

// step returns {{_step}}.
func step(at parse.Pos) parse.Node {
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: at, Pipe: &parse.PipeNode{NodeType: parse.NodePipe, Pos: at,
		Cmds: []*parse.CommandNode{{NodeType: parse.NodeCommand, Pos: at, Args: []parse.Node{parse.NewIdentifier(stepper).SetPos(at)}}}}}
}

// Shipped returns the templates that this program brings along.
func Shipped() []work.Template {
	files, err := fs.ReadDir(shipped, "shipped")
	if err != nil {
		panic(err) // it is part of the program
	}
	var all []work.Template
	for _, f := range files {
		if f.Name() == parts {
			continue
		}
		text, err := shipped.ReadFile("shipped/" + f.Name())
		if err != nil {
			panic(err)
		}
		all = append(all, work.Template{Name: strings.TrimSuffix(f.Name(), Suffix), File: "shipped/" + f.Name(), Text: string(text)})
	}
	return all
}

const (
	// Suffix is that of a template's file.
	Suffix = ".tmpl"
	// Dir has the templates of a repository.
	Dir = ".signalbox/prompts"
)
