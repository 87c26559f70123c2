package archtest

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// concurrent are the packages that start goroutines, and why each does.
var concurrent = map[string]string{
	"pkg/service":               "runs actors",
	"pkg/agent":                 "works, heartbeats and drains at once",
	"pkg/eventstore/jetstream":  "decodes the log beside the reading of it, until that has caught up",
	"pkg/forge/crashtest":       "stands between a service and the world, and outlives the service",
	"pkg/faultproxy":            "carries both ways of every connection of a test",
	"pkg/projection":            "follows the log",
	"services/orchestrator/api": "the micro framework serves one endpoint's requests one after the other",
	"services/orchestrator/app": "follows the log from before it is ready to serve",
	"services/signalbox/bench":  "stands in for many callers at once",
	"services/signalbox/term":   "a read of a terminal does not end with a context",
}

// goroutines: they start in few places, which wait for them. Tests may.
func goroutines(t *tree) []Violation {
	allowed := slices.Sorted(maps.Keys(concurrent))
	return t.inspect("goroutines", func(f *file, node ast.Node) string {
		if f.test || within(f.dir, allowed...) || !starts(node) {
			return ""
		}
		return "goroutines start in " + strings.Join(allowed, ", ") + " only; another place needs its reason in pkg/archtest"
	})
}

// starts reports whether node starts a goroutine: a go statement, or Go(func)
// of a wait group or an error group.
func starts(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		s, ok := n.Fun.(*ast.SelectorExpr)
		return ok && s.Sel.Name == "Go" && len(n.Args) == 1
	}
	return false
}

// inits: nothing happens because a package was imported.
func inits(t *tree) []Violation {
	return t.inspect("init", func(_ *file, node ast.Node) string {
		if f, ok := node.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			return "no init: main calls what has to happen first"
		}
		return ""
	})
}
