package archtest

import (
	"go/ast"
	value "go/constant"
	"go/types"
	"regexp"
)

// expressions reports sources of lazyregexp.New that are no regular expression: the program
// would find them at their first use only.
func expressions(t *tree) []Violation {
	values := map[string]*types.Info{}
	return t.inspect("expressions", func(f *file, node ast.Node) string {
		call, ok := node.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return ""
		}
		if s, ok := call.Fun.(*ast.SelectorExpr); !ok || !isPackage(s.X, "lazyregexp") || s.Sel.Name != "New" {
			return ""
		}
		if values[f.dir] == nil {
			values[f.dir] = t.resolve(f.dir)
		}
		source := values[f.dir].Types[call.Args[0]].Value
		if source == nil || source.Kind() != value.String {
			return "" // it is made when the program runs
		}
		if _, err := regexp.Compile(value.StringVal(source)); err != nil {
			return err.Error()
		}
		return ""
	})
}
