package workflow

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
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
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil {
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
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	p := Position{File: r.file}
	if t := n.GetToken(); t != nil && t.Position != nil {
		p.Line, p.Column = t.Position.Line, t.Position.Column
	}
	return p
}

func (r *reader) want(n ast.Node, want string) {
	r.add(r.at(n), "want %s, got %s", want, strings.ToLower(n.Type().YAMLName()))
}

// A take puts one node where it belongs.
type take func(ast.Node)

// entries calls each for every key of a mapping, in file order, once a key.
func (r *reader) entries(n ast.Node, each func(key string, at Position, value ast.Node)) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		r.want(n, "a mapping")
		return
	}
	seen := map[string]bool{}
	for _, v := range values {
		key, ok := v.Key.(*ast.StringNode)
		_, null := v.Value.(*ast.NullNode)
		switch {
		case !ok:
			r.want(v.Key, "a name")
		case seen[key.Value]:
			r.add(r.at(key), "%q is there twice", key.Value)
		case v.Value == nil || null:
			r.add(r.at(key), "%q has no value", key.Value)
		default:
			seen[key.Value] = true
			each(key.Value, r.at(key), v.Value)
		}
	}
}

// object reads a mapping whose keys are known.
func (r *reader) object(n ast.Node, known map[string]take) {
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

func (r *reader) list(each take) take {
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

func text(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return strings.TrimSpace(n.Value.Value), true
	}
	return "", false
}

func (r *reader) text(to *string) take {
	return func(n ast.Node) {
		s, ok := text(n)
		switch {
		case !ok:
			r.want(n, "a text")
		case strings.TrimSpace(s) == "":
			r.add(r.at(n), "the text is empty: leave the key out")
		default:
			*to = s
		}
	}
}

// names reads one name or a list of them.
func (r *reader) names(to *[]string, at *[]Position) take {
	one := func(n ast.Node) {
		var s string
		if r.text(&s)(n); s != "" {
			*to, *at = append(*to, s), append(*at, r.at(n))
		}
	}
	return func(n ast.Node) {
		if _, ok := n.(*ast.SequenceNode); ok {
			r.list(one)(n)
			return
		}
		one(n)
	}
}

func (r *reader) flag(to *bool) take {
	return func(n ast.Node) {
		b, ok := n.(*ast.BoolNode)
		if !ok {
			r.want(n, "true or false")
			return
		}
		*to = b.Value
	}
}

func (r *reader) count(to *int) take {
	return func(n ast.Node) {
		i, ok := integer(n)
		if !ok || i < 1 || i > math.MaxInt32 {
			r.add(r.at(n), "want a whole number from 1, got %s", n)
			return
		}
		*to = int(i)
	}
}

func integer(n ast.Node) (int64, bool) {
	i, ok := n.(*ast.IntegerNode)
	if !ok {
		return 0, false
	}
	switch v := i.Value.(type) {
	case int64:
		return v, true
	case uint64:
		return int64(v), v <= math.MaxInt64
	}
	return 0, false
}

func (r *reader) duration(to *time.Duration) take {
	return func(n ast.Node) {
		s, _ := text(n)
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			r.add(r.at(n), "want a duration like 15m or 2h30m, got %s", n)
			return
		}
		*to = d
	}
}

func (r *reader) guard(to *Guard) take {
	return func(n ast.Node) {
		r.text(&to.Source)(n)
		to.at = r.at(n)
		switch s := n.(type) {
		case *ast.StringNode:
			if s.Token.Origin != s.Token.Value && strings.ContainsAny(strings.TrimSpace(s.Token.Origin)[:1], `"'`) {
				to.at.Column++
			}
		case *ast.LiteralNode:
			to.at.Column = 0
		}
	}
}

// scalar reads a policy value: bool, int64, float64 or string.
func (r *reader) scalar(n ast.Node) (any, bool) {
	if s, ok := text(n); ok {
		return s, true
	}
	if i, ok := integer(n); ok {
		return i, true
	}
	switch n := n.(type) {
	case *ast.BoolNode:
		return n.Value, true
	case *ast.FloatNode:
		if !math.IsInf(n.Value, 0) && !math.IsNaN(n.Value) {
			return n.Value, true
		}
	}
	r.add(r.at(n), "want true, false, a number or a text, got %s", fmt.Sprint(n))
	return nil, false
}
