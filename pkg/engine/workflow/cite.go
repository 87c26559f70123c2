package workflow

import (
	"maps"
	"slices"

	"cel.dev/cel-go/cel"
	celast "cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
)

// cites finds the evidence that an expression names: evidence['N'], evidence.N
// and 'N' in evidence. A name that is computed is not found.
func cites(checked *cel.Ast) []string {
	found := map[string]bool{}
	visit(checked, func(e celast.Expr) {
		switch e.Kind() {
		case celast.SelectKind:
			if isIdent(e.AsSelect().Operand(), "evidence") {
				found[e.AsSelect().FieldName()] = true
			}
		case celast.CallKind:
			call, of, name := binary(e)
			if call == operators.In {
				of, name = name, of
			}
			if (call == operators.In || call == operators.Index) && isIdent(of, "evidence") {
				if s, ok := literal(name); ok {
					found[s] = true
				}
			}
		}
	})
	if len(found) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(found))
}
