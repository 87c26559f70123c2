package archtest

import (
	"go/ast"
	value "go/constant"
	"go/types"
	"regexp"
	"strings"
)

// expressions reports sources of lazyregexp.New that are no regular expression: the program
// would find them at their first use only. It also reports variables of the programs' packages that are
// compiled when a program starts, as it does for each command in a sandbox.
func expressions(t *tree) []Violation {
	values := map[string]*types.Info{}
	return t.inspect("expressions", func(f *file, node ast.Node) string {
		if file, ok := node.(*ast.File); ok && !f.test && !strings.HasPrefix(f.dir, "pkg/testkit") && f.dir != "pkg/git" {
			return eager(file)
		}
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

// eager returns a finding if a variable of the file is a regexp.MustCompile.
func eager(file *ast.File) string {
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range d.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok || len(v.Values) != len(v.Names) {
				continue
			}
			for i, value := range v.Values {
				if call, ok := value.(*ast.CallExpr); ok {
					if s, ok := call.Fun.(*ast.SelectorExpr); ok && isPackage(s.X, "regexp") {
						return v.Names[i].Name + " is compiled when the program starts: use lazyregexp.New"
					}
				}
			}
		}
	}
	return ""
}
