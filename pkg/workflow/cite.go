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
			of, name := evidenceCall(e.AsCall())
			if of == nil || !isIdent(of, "evidence") || name.Kind() != celast.LiteralKind {
				return
			}
			if s, ok := name.AsLiteral().Value().(string); ok {
				found[s] = true
			}
		}
	})
	if len(found) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(found))
}

// evidenceCall is the map and the key of a look-up or a test for membership.
func evidenceCall(call celast.CallExpr) (of, name celast.Expr) {
	args := call.Args()
	switch call.FunctionName() {
	case operators.Index:
		return args[0], args[1]
	case operators.In:
		return args[1], args[0]
	}
	return nil, nil
}
