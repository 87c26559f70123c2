package repoconfig

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/signalbox/signalbox/pkg/engine/yamlfile"
)

// reader takes a tree apart and collects everything that is wrong with it. Texts come
// from texts and numbers from numbers.
type reader struct {
	yamlfile.Reader
	config Config
}

// take puts one node where it belongs.
type take func(ast.Node)

// object reads a mapping whose keys are known.
func (r *reader) object(n ast.Node, known map[string]take) {
	r.Entries(n, func(key string, at Place, value ast.Node) {
		if t, ok := known[key]; ok {
			if _, placed := r.config.places[key]; !placed {
				r.config.places[key] = at
			}
			t(value)
			return
		}
		if hint := elsewhere(key); hint != "" {
			r.Add(at, "unknown key %s%s", yamlfile.Quoted(key), hint)
			return
		}
		r.Unknown(at, "key", key, slices.Sorted(maps.Keys(known)))
	})
}

// list reads a list; an empty one is an error.
func (r *reader) list(each take) take {
	return func(n ast.Node) {
		s, ok := n.(*ast.SequenceNode)
		if !ok || len(s.Values) == 0 {
			r.Want(n, "a list with something in it")
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
			r.Want(n, "a text")
		case strings.TrimSpace(s.Value) == "" || len(s.Value) > maxText || strings.ContainsFunc(s.Value, control):
			r.Want(n, fmt.Sprintf("a line of text of at most %d bytes", maxText))
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
			r.Want(n, "a name")
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
			r.Want(n, "a whole number from 1")
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
