package archtest

import (
	"slices"
	"strings"
)

// forgeSide lists the services that hold a code host's credentials.
var forgeSide = []string{"gateway", "pm", "committer", "git-manager", "shepherd"}

// allInOne is the service that runs all others in one process.
const allInOne = "signalbox"

// harness tests the services as processes, with a forge of its own. It has tests
// only: it is not deployed, holds no credentials and cannot be imported.
const harness = "services/e2e"

// orchestratorTest runs a real orchestrator within a test. Tests of the
// orchestrator's clients import it.
const orchestratorTest = "services/orchestrator/orchestratortest"

// forge reports imports of the code host's client library outside of its adapter,
// and imports of pkg/forge outside of the forge-side services and the harness.
func forge(t *tree) []Violation {
	return t.each("forge", func(f *file, imported string) string {
		switch {
		case within(imported, "github.com/google/go-github"):
			if within(f.dir, "pkg/forge/github") || f.test && within(f.dir, "pkg/forge/local") {
				return ""
			}
			return "only pkg/forge/github imports go-github; others use pkg/forge"
		case within(t.local(imported), "pkg/forge"):
			service := serviceOf(f.dir)
			if within(f.dir, "pkg/forge") || service == allInOne || f.test && within(f.dir, harness) || slices.Contains(forgeSide, service) {
				return ""
			}
			return "only the forge-side services (" + strings.Join(forgeSide, ", ") + ") import the forge: no other package holds its credentials"
		}
		return ""
	})
}

// localForge is the forge of our own, which is made of the packages in forgeLayers.
const localForge = "pkg/forge/local"

// forgeLayers lists the packages below localForge, each with those that it may
// import: they import each other in one direction.
var forgeLayers = map[string][]string{
	"bare":  {},
	"hook":  {},
	"store": {},
	"rules": {"store"},
	"host":  {"bare", "rules", "store"},
	"rest":  {"bare", "hook", "host", "rules", "store"},
	"web":   {"bare", "host", "store"},
}

// layers reports each import of a package below localForge by one that is not above
// it.
func layers(t *tree) []Violation {
	return t.each("layers", func(f *file, imported string) string {
		other, ok := strings.CutPrefix(t.local(imported), localForge+"/")
		if !ok || f.dir == localForge {
			return ""
		}
		mine, _ := strings.CutPrefix(f.dir, localForge+"/")
		if slices.Contains(forgeLayers[mine], other) {
			return ""
		}
		return "only " + localForge + " and the packages above it in forgeLayers import " + localForge + "/" + other
	})
}

// services reports each import of a service by a package or another service. The
// all-in-one and the harness may import services; tests may import
// orchestratorTest.
func services(t *tree) []Violation {
	return t.each("services", func(f *file, imported string) string {
		mine, other := serviceOf(f.dir), serviceOf(t.local(imported))
		if other == "" || mine == other || mine == allInOne || f.test && (within(f.dir, harness) || t.local(imported) == orchestratorTest) {
			return ""
		}
		return "services/" + other + " is a deployable, not a library; what is shared belongs in pkg"
	})
}

// documents reports imports between agents and the pipeline's document, in either
// direction. Tests may have them.
func documents(t *tree) []Violation {
	return t.each("documents", func(f *file, imported string) string {
		switch to := t.local(imported); {
		case f.test:
			return ""
		case within(f.dir, "pkg/agent") && within(to, "pkg/pipeline", "pkg/pipelinerole"):
			return "agents know no lifecycle's document: a service's main gives them a role.Document"
		case within(f.dir, "pkg/pipeline") && within(to, "pkg/agent"):
			return "the document knows no agents: pkg/pipelinerole joins the two"
		}
		return ""
	})
}

// serviceOf returns the name of the service that dir belongs to, "" if to none.
func serviceOf(dir string) string {
	rest, ok := strings.CutPrefix(dir, "services/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// unsafe reports imports of unsafe and C.
func unsafe(t *tree) []Violation {
	return t.each("unsafe", func(_ *file, imported string) string {
		if imported == "unsafe" || imported == "C" {
			return "nothing imports " + imported
		}
		return ""
	})
}
