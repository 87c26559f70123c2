package instance_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// Each switch names every type that has the marker method: a new event or action
// without a case fails here.
func TestEverySwitchHasACaseForEveryType(t *testing.T) {
	for _, c := range []struct{ marker, declared, function, file string }{
		{"event", "event.go", "apply", "evolve.go"},
		{"action", "command.go", "decide", "decide.go"},
	} {
		want := receivers(parseGo(t, c.declared), c.marker)
		if len(want) < 20 {
			t.Fatalf("%s declares only %v", c.declared, want)
		}
		if got := cases(parseGo(t, c.file), c.function); !slices.Equal(got, want) {
			t.Errorf("%s in %s has cases for\n%v, want\n%v", c.function, c.file, got, want)
		}
	}
}

func parseGo(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// receivers returns the types with a method of that name, sorted.
func receivers(f *ast.File, method string) (types []string) {
	for _, d := range f.Decls {
		if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil && m.Name.Name == method {
			types = append(types, m.Recv.List[0].Type.(*ast.Ident).Name)
		}
	}
	slices.Sort(types)
	return types
}

// cases returns the types that the type switches of a function name, sorted.
func cases(f *ast.File, function string) (types []string) {
	for _, d := range f.Decls {
		m, ok := d.(*ast.FuncDecl)
		if !ok || m.Name.Name != function {
			continue
		}
		ast.Inspect(m, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSwitchStmt); ok {
				for _, clause := range s.Body.List {
					for _, name := range clause.(*ast.CaseClause).List {
						types = append(types, name.(*ast.Ident).Name)
					}
				}
			}
			return true
		})
	}
	slices.Sort(types)
	return types
}
