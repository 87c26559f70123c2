package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
)

// distinct lists the packages in which a method that is not exported has a name of its own.
var distinct = []string{"services/gateway"}

// methods reports methods of one name on two types of a package, unless an interface of the package
// has the method: then the types are alternatives. A reader finds the others by their name alone.
func methods(t *tree) []Violation {
	first := map[string]map[string]string{} // by package, then by method: the type that has it
	shared := map[string]map[string]bool{}  // by package: the methods of its interfaces
	at := func(f *file) {
		if first[f.dir] == nil {
			first[f.dir], shared[f.dir] = map[string]string{}, map[string]bool{}
		}
	}
	of := func(f *file) bool { return !f.test && within(f.dir, distinct...) }
	t.inspect("methods", func(f *file, node ast.Node) string {
		if i, ok := node.(*ast.InterfaceType); ok && of(f) {
			at(f)
			for _, m := range i.Methods.List {
				for _, name := range m.Names {
					shared[f.dir][name.Name] = true
				}
			}
		}
		return ""
	})
	type method struct {
		name, receiver string
		file           *file
		pos            token.Pos
	}
	var all []method
	for _, f := range t.files {
		for _, d := range f.ast.Decls {
			if m, ok := d.(*ast.FuncDecl); ok && of(f) && m.Recv != nil && !m.Name.IsExported() {
				at(f)
				all = append(all, method{m.Name.Name, receiver(m), f, m.Pos()})
			}
		}
	}
	slices.SortFunc(all, func(a, b method) int { return cmp.Or(cmp.Compare(a.file.path, b.file.path), cmp.Compare(a.pos, b.pos)) })
	var out []Violation
	for _, m := range all {
		had, twice := first[m.file.dir][m.name]
		if !twice {
			first[m.file.dir][m.name] = m.receiver
		} else if had != m.receiver && !shared[m.file.dir][m.name] {
			out = append(out, Violation{m.file.path, t.fset.Position(m.pos).Line, "methods",
				fmt.Sprintf("%s.%s has the name of a method of %s: give it one of its own, or declare the interface that both implement", m.receiver, m.name, had)})
		}
	}
	return out
}

// receiver returns the name of the type that has a method.
func receiver(m *ast.FuncDecl) string {
	e := m.Recv.List[0].Type
	for {
		switch at := e.(type) {
		case *ast.StarExpr:
			e = at.X
		case *ast.IndexExpr:
			e = at.X
		case *ast.IndexListExpr:
			e = at.X
		case *ast.Ident:
			return at.Name
		default:
			return ""
		}
	}
}
