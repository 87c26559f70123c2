package archtest

import (
	"go/ast"
	"slices"
)

// core is decided by its inputs alone, and so is all of ours that it imports.
var core = []string{"pkg/workflow", "pkg/instance", "pkg/merge"}

// outside is what reaches beyond the inputs of a function: files, networks,
// processes, chance, and the wire's own types. Embedded files are inputs.
var outside = []string{
	"os", "net", "syscall", "plugin", "database", "io/ioutil", "path/filepath", "log", "math/rand", "crypto/rand",
	"golang.org/x/sys", "google.golang.org/protobuf", "github.com/nats-io", "github.com/synadia-io",
}

// clock is what of package time depends on when it is called.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// pure: the core imports no I/O, no message types and no NATS, and reads no
// clock: time is an input.
func pure(t *tree) []Violation {
	roots := t.reach(core)
	in := func(f *file) bool { return !f.test && slices.Contains(roots, f.dir) }

	all := t.each("pure", func(f *file, imported string) string {
		if in(f) && (within(imported, outside...) || within(t.local(imported), "proto")) {
			return "the core does not import " + imported + ": what it needs from outside is a parameter"
		}
		return ""
	})
	return append(all, t.inspect("pure", func(f *file, node ast.Node) string {
		if s, ok := node.(*ast.SelectorExpr); ok && in(f) && isPackage(s.X, "time") && slices.Contains(clock, s.Sel.Name) {
			return "the core does not call time." + s.Sel.Name + ": the time is a parameter"
		}
		return ""
	})...)
}

// reach returns the packages at and below roots and all of the module that
// they import.
func (t *tree) reach(roots []string) []string {
	var found []string
	var visit func(dir string)
	visit = func(dir string) {
		if slices.Contains(found, dir) {
			return
		}
		found = append(found, dir)
		for _, f := range t.in(dir) {
			for _, spec := range f.ast.Imports {
				if next := t.local(imported(spec)); next != "" {
					visit(next)
				}
			}
		}
	}
	for _, f := range t.files {
		if within(f.dir, roots...) {
			visit(f.dir)
		}
	}
	return found
}

func isPackage(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
