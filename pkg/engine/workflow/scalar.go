package workflow

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

func text(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return strings.TrimSpace(n.Value.Value), true
	}
	return "", false
}

func (r *reader) text(to *string) setter {
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
func (r *reader) names(to *[]string, at *[]Position) setter {
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

func (r *reader) flag(to *bool) setter {
	return func(n ast.Node) {
		b, ok := n.(*ast.BoolNode)
		if !ok {
			r.want(n, "true or false")
			return
		}
		*to = b.Value
	}
}

func (r *reader) count(to *int) setter {
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

func (r *reader) duration(to *time.Duration) setter {
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

func (r *reader) guard(to *Guard) setter {
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
