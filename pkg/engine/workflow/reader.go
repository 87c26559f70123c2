package workflow

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/signalbox/signalbox/pkg/base/yamltext"
)

// The parser's time grows with the square of the depth: bounds of a definition's
// text in bytes, and of brackets within brackets.
const (
	maxSource = 64 << 10
	maxDepth  = 16
)

// reader takes a YAML tree apart and collects everything that is wrong with
// it. Strings come from strings and numbers from numbers: nothing is converted.
type reader struct {
	file string
	problems
}

// parse returns the one document's body, or nil after reporting why not.
func (r *reader) parse(src []byte) (body ast.Node) {
	start := Position{File: r.file, Line: 1}
	src = yamltext.WithoutMark(src)
	if len(src) > maxSource {
		r.add(start, "definition of %d bytes, want at most %d", len(src), maxSource)
		return nil
	}
	if !utf8.Valid(src) {
		r.add(start, "not UTF-8")
		return nil
	}
	defer func() {
		// The parser is not ours; whatever text trips it is no definition.
		if p := recover(); p != nil {
			r.add(start, "not YAML: %v", p)
			body = nil
		}
	}()
	tokens := lexer.Tokenize(string(src))
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		if depth > maxDepth {
			r.add(Position{r.file, t.Position.Line, t.Position.Column}, "brackets nest deeper than %d", maxDepth)
			return nil
		}
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		if syntax, ok := errors.AsType[yaml.Error](err); ok && syntax.GetToken() != nil {
			at := syntax.GetToken().Position
			start.Line, start.Column = at.Line, at.Column
			err = errors.New(syntax.GetMessage())
		}
		r.add(start, "not YAML: %v", err)
		return nil
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil {
			bodies = append(bodies, doc.Body)
		}
	}
	if len(bodies) != 1 {
		r.add(start, "%d YAML documents, want 1", len(bodies))
		return nil
	}
	return bodies[0]
}

// at is where a node starts.
func (r *reader) at(n ast.Node) Position {
	p := Position{File: r.file}
	if t := yamltext.Start(n).GetToken(); t != nil && t.Position != nil {
		p.Line, p.Column = t.Position.Line, t.Position.Column
	}
	return p
}

func (r *reader) want(n ast.Node, want string) {
	r.add(r.at(n), "want %s, got %s", want, strings.ToLower(n.Type().YAMLName()))
}

// setter stores the value of one node.
type setter func(ast.Node)

// entries calls each for every key of a mapping, in file order, once a key.
func (r *reader) entries(n ast.Node, each func(key string, at Position, value ast.Node)) {
	mapping := yamltext.Entries(n, func(key *ast.StringNode, value ast.Node) {
		each(key.Value, r.at(key), value)
	}, func(key ast.Node, fault yamltext.Fault) {
		switch fault {
		case yamltext.NoName:
			r.want(key, "a name")
		case yamltext.Twice:
			r.add(r.at(key), "%q is there twice", key.(*ast.StringNode).Value)
		case yamltext.NoValue:
			r.add(r.at(key), "%q has no value", key.(*ast.StringNode).Value)
		}
	})
	if !mapping {
		r.want(n, "a mapping")
	}
}

// object reads a mapping whose keys are known.
func (r *reader) object(n ast.Node, known map[string]setter) {
	r.entries(n, func(key string, at Position, value ast.Node) {
		if t, ok := known[key]; ok {
			t(value)
			return
		}
		names := make([]string, 0, len(known))
		for k := range known {
			names = append(names, k)
		}
		slices.Sort(names)
		r.unknown(at, "key", key, names)
	})
}

func (r *reader) list(each setter) setter {
	return func(n ast.Node) {
		s, ok := n.(*ast.SequenceNode)
		if !ok {
			r.want(n, "a list")
			return
		}
		for _, v := range s.Values {
			each(v)
		}
	}
}
