package workflow

import (
	"strings"

	celast "cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
)

// count names a fact that grows as a run goes on: instance.iteration, returns or
// failures, or instance.visits of a state.
type count struct{ fact, state string }

// bounds lists the counts that each make the guard hold when they reach a bound. The guard is a comparison COUNT >= or > BOUND, or has one as an alternative. A
// bound is policy.NAME or a number. Visits may be asked for first: 'S' in instance.visits
// && instance.visits['S'] > BOUND.
func (g Guard) bounds() []count {
	if g.checked == nil {
		return nil
	}
	return bounded(g.checked.NativeRep().Expr())
}

func bounded(e celast.Expr) []count {
	name, a, b := binary(e)
	switch name {
	case operators.LogicalOr:
		return append(bounded(a), bounded(b)...)
	case operators.LogicalAnd:
		state, ok := visited(a)
		if !ok {
			return nil
		}
		var of []count
		for _, n := range bounded(b) {
			if n == (count{"visits", state}) {
				of = append(of, n)
			}
		}
		return of
	}
	if n, _, ok := compared(e); ok {
		return []count{n}
	}
	return nil
}

// needsFailure reports whether the guard cannot hold of a move that is no failure. It is,
// or has as a condition, that instance.failures is above zero.
func (d *Definition) needsFailure(g Guard) bool {
	if g.checked == nil {
		return false
	}
	var needs func(e celast.Expr) bool
	needs = func(e celast.Expr) bool {
		switch name, a, b := binary(e); name {
		case operators.LogicalOr:
			return needs(a) && needs(b)
		case operators.LogicalAnd:
			return needs(a) || needs(b)
		}
		n, bound, ok := compared(e)
		if !ok || n.fact != "failures" {
			return false
		}
		least, ok := d.constant(bound)
		if name, _, _ := binary(e); name == operators.Greater || name == operators.Less {
			least++
		}
		return ok && least > 0
	}
	return needs(g.checked.NativeRep().Expr())
}

// compared takes apart COUNT >= BOUND and its like.
func compared(e celast.Expr) (n count, bound celast.Expr, ok bool) {
	name, a, b := binary(e)
	switch name {
	case operators.LessEquals, operators.Less:
		a, b = b, a
	case operators.GreaterEquals, operators.Greater:
	default:
		return n, nil, false
	}
	if n, ok = counted(a); !ok {
		return n, nil, false
	}
	return n, b, b.Kind() == celast.LiteralKind || b.Kind() == celast.IdentKind && strings.HasPrefix(b.AsIdent(), "policy.")
}

// constant is the whole number that a bound stands for.
func (d *Definition) constant(bound celast.Expr) (int64, bool) {
	var value any
	if bound.Kind() == celast.LiteralKind {
		value = bound.AsLiteral().Value()
	} else {
		value = d.Policy[strings.TrimPrefix(bound.AsIdent(), "policy.")]
	}
	n, ok := value.(int64)
	return n, ok
}

func counted(e celast.Expr) (count, bool) {
	if call, of, key := binary(e); call == operators.Index && isVisits(of) {
		state, ok := literal(key)
		return count{"visits", state}, ok
	}
	if e.Kind() != celast.SelectKind {
		return count{}, false
	}
	of, field := e.AsSelect().Operand(), e.AsSelect().FieldName()
	if isVisits(of) {
		return count{"visits", field}, true
	}
	switch field {
	case "iteration", "returns", "failures":
		return count{fact: field}, isIdent(of, "instance")
	}
	return count{}, false
}

// visited takes apart 'S' in instance.visits.
func visited(e celast.Expr) (state string, ok bool) {
	call, key, of := binary(e)
	if call != operators.In || !isVisits(of) {
		return "", false
	}
	return literal(key)
}

func isVisits(e celast.Expr) bool {
	return e.Kind() == celast.SelectKind && isIdent(e.AsSelect().Operand(), "instance") && e.AsSelect().FieldName() == "visits"
}

func literal(e celast.Expr) (string, bool) {
	if e.Kind() != celast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().Value().(string)
	return s, ok
}

// binary takes a call of two arguments apart; the name of anything else is empty.
func binary(e celast.Expr) (name string, a, b celast.Expr) {
	if e.Kind() != celast.CallKind || len(e.AsCall().Args()) != 2 {
		return "", nil, nil
	}
	return e.AsCall().FunctionName(), e.AsCall().Args()[0], e.AsCall().Args()[1]
}
