package workflow

import (
	"strings"

	celast "cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
)

// first is the candidate the engine takes from s: the first the table permits.
func (s State) first(candidates []string) (string, bool) {
	for _, to := range candidates {
		if s.permits(to) {
			return to, true
		}
	}
	return "", false
}

// moves lists the states that an instance in s can really go to: by the owner's
// proposal, by rule or signal, and turned aside by a gate or a limit. A row may
// permit more.
func (d *Definition) moves(s State) []string {
	can := map[string]bool{}
	add := func(to string, ok bool) {
		if ok {
			can[to] = true
		}
	}
	if s.Proposes {
		for _, t := range s.Next {
			add(t.To, true)
		}
	}
	for _, r := range s.Decide {
		add(s.first(r.To))
	}
	for _, rules := range s.On {
		for _, r := range rules {
			add(s.first(r.To))
		}
	}
	for _, g := range d.Gates {
		for _, to := range g.To {
			if can[to] {
				add(s.first(g.Instead))
				break
			}
		}
	}
	if len(can) > 0 {
		for _, l := range d.Limits {
			add(s.first(l.To))
		}
	}
	var moves []string
	for _, t := range s.Next {
		if can[t.To] {
			moves = append(moves, t.To)
		}
	}
	return moves
}

// ends reports whether a budget ends a run that keeps coming through s: a limit
// that must hold in the end leads from s into a final state, and no limit
// before it leads anywhere else.
func (d *Definition) ends(s State) bool {
	for _, l := range d.Limits {
		to, ok := s.first(l.To)
		if !ok {
			continue
		}
		if target, _ := d.State(to); target.Kind != Final {
			return false
		}
		if l.When.budget() {
			return true
		}
	}
	return false
}

// budget reports whether the guard must hold in the end because a count that
// only grows reaches a bound: it is, or has as an alternative,
// instance.returns or instance.iteration >= (or >) policy.NAME or a number.
func (g Guard) budget() bool {
	return g.checked != nil && spends(g.checked.NativeRep().Expr())
}

func spends(e celast.Expr) bool {
	if e.Kind() != celast.CallKind || len(e.AsCall().Args()) != 2 {
		return false
	}
	a, b := e.AsCall().Args()[0], e.AsCall().Args()[1]
	switch e.AsCall().FunctionName() {
	case operators.LogicalOr:
		return spends(a) || spends(b)
	case operators.GreaterEquals, operators.Greater:
		return counts(a) && bounds(b)
	case operators.LessEquals, operators.Less:
		return counts(b) && bounds(a)
	}
	return false
}

func counts(e celast.Expr) bool {
	if e.Kind() != celast.SelectKind || !isIdent(e.AsSelect().Operand(), "instance") {
		return false
	}
	name := e.AsSelect().FieldName()
	return name == "returns" || name == "iteration"
}

// bounds reports whether e is a literal or policy.NAME, which the checker has
// made one identifier.
func bounds(e celast.Expr) bool {
	return e.Kind() == celast.LiteralKind || e.Kind() == celast.IdentKind && strings.HasPrefix(e.AsIdent(), "policy.")
}
