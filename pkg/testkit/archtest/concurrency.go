package archtest

import (
	"go/ast"
	"maps"
	"slices"
)

// concurrent lists the packages that start goroutines, with the reason of each.
// A test checks that each exists and starts some.
var concurrent = map[string]string{
	"pkg/agent":                       "runs handlers, heartbeats and draining at once",
	"pkg/agent/brain/mcp":             "starts, runs and closes several servers at once",
	"pkg/agent/brain/model":           "ends a request of which nothing comes for too long",
	"pkg/engine/client":               "sends a batch when its delay is over",
	"pkg/engine/dispatch":             "replies to a waiting agent when its wait is over",
	"pkg/engine/eventstore/jetstream": "decodes the log while it reads on; saves the watermark after a delay",
	"pkg/engine/whatif":               "decides a long log on all cores",
	"pkg/testkit/faultproxy":          "forwards both directions of every connection of a test",
	"pkg/testkit/crashtest":           "proxies a service's connections and outlives the service",
	"pkg/localforge/hook":             "delivers to one webhook while others wait for theirs",
	"pkg/localforge/rest":             "tells webhooks of a change after it is answered",
	"pkg/service":                     "runs actors",
	"services/gateway/app":            "looks at several issues at once, of which webhooks told",
	"services/orchestrator/api":       "the micro framework serves the requests of one endpoint in sequence",
	"services/orchestrator/app":       "follows the log before it is ready to serve",
	"services/signalbox/bench":        "simulates many callers at once",
	"services/signalbox/up":           "brings branches while a plan is kept in step",
	"services/signalbox/cli":          "writes an export while it reads the log on",
	"services/signalbox/eval":         "runs several processes and test runs at a time",
	"services/signalbox/narrator":     "shows a clock while a step takes long",
	"services/signalbox/term":         "a read of a terminal does not end with a context",
}

// goroutines reports each goroutine that starts outside of the packages in
// concurrent. Tests may start them.
func goroutines(t *tree) []Violation {
	allowed := slices.Collect(maps.Keys(concurrent))
	return t.inspect("goroutines", func(f *file, node ast.Node) string {
		if f.test || within(f.dir, allowed...) || !starts(node) {
			return ""
		}
		return "goroutines start in the packages that pkg/testkit/archtest/concurrency.go lists; another one needs its reason there"
	})
}

// starts reports whether node starts a goroutine: a go statement, Go(func) of a
// wait group or an error group, or time.AfterFunc. It leaves out
// context.AfterFunc, which runs its function once, when the context ends.
func starts(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		s, ok := n.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		return s.Sel.Name == "Go" && len(n.Args) == 1 || s.Sel.Name == "AfterFunc" && isPackage(s.X, "time")
	}
	return false
}

// inits reports each func init: importing a package has no effect.
func inits(t *tree) []Violation {
	return t.inspect("init", func(_ *file, node ast.Node) string {
		if f, ok := node.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			return "no init: main calls what has to happen first"
		}
		return ""
	})
}
