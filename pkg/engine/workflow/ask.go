package workflow

import (
	"slices"

	"cel.dev/cel-go/cel"
	celast "cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// lookup is a key of a map as a guard names it: "evidence", "tests".
type lookup struct{ of, key string }

// String is the lookup as CEL has it.
func (r lookup) String() string { return r.of + "['" + r.key + "']" }

// unasked lists the keys that an expression reads by name and nowhere asks for, with 'KEY'
// in MAP or has(MAP.KEY). Without one of them it cannot be evaluated.
func unasked(checked *cel.Ast) []lookup {
	var reads, asked []lookup
	a := checked.NativeRep()
	visit(checked, func(e celast.Expr) {
		if call, key, of := binary(e); call == operators.In {
			if name, ok := literal(key); ok {
				asked = append(asked, lookup{trail(a, of), name})
			}
			return
		}
		r, ok := keyed(a, e)
		switch {
		case !ok:
		case e.Kind() == celast.SelectKind && e.AsSelect().IsTestOnly():
			asked = append(asked, r)
		default:
			reads = append(reads, r)
		}
	})
	return slices.DeleteFunc(reads, func(r lookup) bool { return slices.Contains(asked, r) })
}

// keyed takes apart MAP['KEY'] and MAP.KEY.
func keyed(a *celast.AST, e celast.Expr) (lookup, bool) {
	call, of, key := binary(e)
	name := ""
	switch {
	case call == operators.Index:
		var ok bool
		if name, ok = literal(key); !ok {
			return lookup{}, false
		}
	case e.Kind() == celast.SelectKind:
		of, name = e.AsSelect().Operand(), e.AsSelect().FieldName()
	default:
		return lookup{}, false
	}
	if a.GetType(of.ID()).Kind() != types.MapKind {
		return lookup{}, false
	}
	return lookup{trail(a, of), name}, true
}

// trail is an expression of names and keys, however it is written.
func trail(a *celast.AST, e celast.Expr) string {
	if r, ok := keyed(a, e); ok {
		return r.String()
	}
	switch e.Kind() {
	case celast.IdentKind:
		return e.AsIdent()
	case celast.SelectKind:
		return trail(a, e.AsSelect().Operand()) + "." + e.AsSelect().FieldName()
	}
	return "?"
}
