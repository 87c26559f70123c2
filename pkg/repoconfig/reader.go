package repoconfig

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/signalbox/signalbox/pkg/workflow"
	"github.com/signalbox/signalbox/pkg/yamltext"
)

// reader takes a tree apart and collects everything that is wrong with it. Texts come
// from texts and numbers from numbers.
type reader struct {
	file     string
	config   Config
	problems []error
}

// take puts one node where it belongs.
type take func(ast.Node)

func (r *reader) err() error { return errors.Join(r.problems...) }

func (r *reader) add(at Place, format string, args ...any) {
	r.problems = append(r.problems, workflow.Problem{At: at, Text: fmt.Sprintf(format, args...)})
}

// unknown reports a name that is none of the known ones.
func (r *reader) unknown(at Place, what, name string, known []string) {
	text := fmt.Sprintf("unknown %s %s", what, quoted(name))
	r.problems = append(r.problems, workflow.Problem{At: at, Text: text, Meant: workflow.Nearest(name, known)})
}

func (r *reader) want(n ast.Node, want string) { r.add(r.at(n), "want %s", want) }

// at is the line where a node starts.
func (r *reader) at(n ast.Node) Place {
	p := Place{File: r.file, Line: 1}
	if t := yamltext.Start(n).GetToken(); t != nil && t.Position != nil {
		p.Line = t.Position.Line
	}
	return p
}

// entries calls each for every key of a mapping, in the order of the file.
func (r *reader) entries(n ast.Node, each func(key string, at Place, value ast.Node)) {
	mapping := yamltext.Entries(n, func(key *ast.StringNode, value ast.Node) {
		each(key.Value, r.at(key), value)
	}, func(key ast.Node, fault yamltext.Fault) {
		switch fault {
		case yamltext.NoName:
			r.want(key, "a name")
		case yamltext.Twice:
			r.add(r.at(key), "%s is there twice", quoted(key.(*ast.StringNode).Value))
		case yamltext.NoValue:
			r.add(r.at(key), "%s has no value", quoted(key.(*ast.StringNode).Value))
		}
	})
	if !mapping {
		r.want(n, "keys with values")
	}
}

// object reads a mapping whose keys are known.
func (r *reader) object(n ast.Node, known map[string]take) {
	r.entries(n, func(key string, at Place, value ast.Node) {
		if t, ok := known[key]; ok {
			if _, placed := r.config.places[key]; !placed {
				r.config.places[key] = at
			}
			t(value)
			return
		}
		if hint := elsewhere(key); hint != "" {
			r.add(at, "unknown key %s%s", quoted(key), hint)
			return
		}
		r.unknown(at, "key", key, slices.Sorted(maps.Keys(known)))
	})
}

// list reads a list; an empty one is an error.
func (r *reader) list(each take) take {
	return func(n ast.Node) {
		s, ok := n.(*ast.SequenceNode)
		if !ok || len(s.Values) == 0 {
			r.want(n, "a list with something in it")
			return
		}
		for _, v := range s.Values {
			each(v)
		}
	}
}

// maxText is how many bytes a text may have.
const maxText = 200

func (r *reader) text(to *string) take {
	return func(n ast.Node) {
		s, ok := n.(*ast.StringNode)
		switch {
		case !ok:
			r.want(n, "a text")
		case strings.TrimSpace(s.Value) == "" || len(s.Value) > maxText || strings.ContainsFunc(s.Value, control):
			r.want(n, fmt.Sprintf("a line of text of at most %d bytes", maxText))
		default:
			*to = strings.TrimSpace(s.Value)
		}
	}
}

// name reads a text that may be the name of a lifecycle, a state or a role.
func (r *reader) name(to *string) take {
	return func(n ast.Node) {
		var s string
		if r.text(&s)(n); strings.ContainsAny(s, " \t,:=") {
			r.want(n, "a name")
			return
		}
		*to = s
	}
}

func (r *reader) count(to *int) take {
	return func(n ast.Node) {
		text, _ := scalar(n)
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || isText(n) || v < 1 || v > math.MaxInt32 {
			r.want(n, "a whole number from 1")
			return
		}
		*to = int(v)
	}
}

// scalar returns a value as the definition of a lifecycle converts it.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, n.Value != "" && len(n.Value) <= maxText && !strings.ContainsFunc(n.Value, control)
	case *ast.BoolNode:
		return strconv.FormatBool(n.Value), true
	case *ast.IntegerNode:
		return fmt.Sprint(n.Value), true
	case *ast.FloatNode:
		return strconv.FormatFloat(n.Value, 'g', -1, 64), !math.IsInf(n.Value, 0) && !math.IsNaN(n.Value)
	}
	return "", false
}

func isText(n ast.Node) bool {
	_, ok := n.(*ast.StringNode)
	return ok
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

// quoted quotes a name of the file, as far as people need it.
func quoted(s string) string {
	const most = 60
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.Quote(s)
}
