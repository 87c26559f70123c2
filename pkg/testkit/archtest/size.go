package archtest

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
)

// maxLines is the number of lines that a file may have.
const maxLines = 600

// sizes reports files with more than maxLines lines, except flat ones.
func sizes(t *tree) []Violation {
	var all []Violation
	for _, f := range t.files {
		if f.lines > maxLines && !t.flat(f) {
			all = append(all, Violation{f.path, f.lines, "size",
				"a file has at most " + strconv.Itoa(maxLines) +
					" lines, unless more than half of them are one switch or one table: split it where a concept ends"})
		}
	}
	return all
}

// flat reports whether more than half of the lines of f are one switch or one
// composite literal. Such a file is long but simple, and splitting it helps no reader.
func (t *tree) flat(f *file) bool {
	found := false
	ast.Inspect(f.ast, func(node ast.Node) bool {
		switch node.(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.CompositeLit:
			lines := t.fset.Position(node.End()).Line - t.fset.Position(node.Pos()).Line + 1
			found = found || 2*lines > f.lines
		}
		return !found
	})
	return found
}

// vague lists package names that do not say what the package is for.
var vague = []string{"util", "utils", "common", "misc", "manager", "helper", "helpers", "base", "shared", "types"}

// vagueNames reports packages with a vague name.
func vagueNames(t *tree) []Violation {
	var all []Violation
	for _, f := range t.files {
		if slices.Contains(vague, path.Base(f.dir)) {
			all = append(all, t.at(f, f.ast.Name, "names", "package "+path.Base(f.dir)+" says nothing of what it is"))
		}
	}
	return all
}
