package archtest

import (
	"go/ast"
	"slices"
)

// core lists the pure packages: the result of each function depends on its
// arguments only. The rule covers all packages of the module that they import.
// ARCHITECTURE.md calls the same packages pure; a test compares the two.
var core = []string{
	"pkg/agent/repoconfig", "pkg/agent/triage",
	"pkg/base/lazyregexp", "pkg/base/markdown", "pkg/base/sanitize",
	"pkg/document/pipeline", "pkg/document/plan", "pkg/document/prd", "pkg/document/task",
	"pkg/engine/allowance", "pkg/engine/instance", "pkg/engine/learning", "pkg/engine/question", "pkg/engine/series", "pkg/engine/standing", "pkg/engine/tally", "pkg/engine/verdict", "pkg/engine/work", "pkg/engine/workflow", "pkg/engine/yamlfile",
	"pkg/forge/command", "pkg/forge/merge",
}

// outside lists the imports that a pure package cannot have: files, networks,
// processes, randomness, and the types of messages. Embedded files are permitted.
var outside = []string{
	"os", "net", "syscall", "plugin", "database", "io/ioutil", "path/filepath", "log", "math/rand", "crypto/rand",
	"golang.org/x/sys", "google.golang.org/protobuf", "github.com/nats-io", "github.com/synadia-io",
}

// reducer makes commands of changes on the forge. Its own files are as pure as the core. It has
// the messages of commands and instances, and imports packages that are not pure for their types.
const reducer = "services/gateway/change"

// calls lists the imports by which the reducer could do I/O.
var calls = []string{"context", "pkg/engine/client", "pkg/service", "pkg/forge/github", "pkg/forge/forgeside"}

// clock lists the functions of package time that read the clock or wait.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// pure reports I/O, message types, NATS and reads of the clock in the core. Tests
// may use them.
func pure(t *tree) []Violation {
	roots := t.reach(core)
	reduces := func(f *file) bool { return !f.test && f.dir == reducer }
	in := func(f *file) bool { return !f.test && slices.Contains(roots, f.dir) || reduces(f) }

	all := t.each("pure", func(f *file, imported string) string {
		if reduces(f) {
			if within(imported, outside...) || within(imported, calls...) || within(t.local(imported), calls...) {
				return "the reducer does not import " + imported + ": the caller reads and sends"
			}
			return ""
		}
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

// reach returns the packages at and below roots, and all packages of the module
// that they import.
func (t *tree) reach(roots []string) []string {
	var dirs []string
	for _, f := range t.files {
		if within(f.dir, roots...) {
			dirs = append(dirs, f.dir)
		}
	}
	return t.closure(dirs...)
}

// closure returns the packages, and all packages of the module that they import.
func (t *tree) closure(dirs ...string) []string {
	var found []string
	var visit func(dir string)
	visit = func(dir string) {
		if slices.Contains(found, dir) {
			return
		}
		found = append(found, dir)
		for _, f := range t.in(dir) {
			for _, spec := range f.ast.Imports {
				if next := t.local(importPath(spec)); next != "" {
					visit(next)
				}
			}
		}
	}
	for _, dir := range dirs {
		visit(dir)
	}
	return found
}

func isPackage(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
