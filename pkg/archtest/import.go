package archtest

import (
	"slices"
	"strings"
)

// forgeSide are the services that hold a code host's credentials.
var forgeSide = []string{"gateway", "pm", "committer", "git-manager", "shepherd"}

// allInOne runs every service in one process.
const allInOne = "signalbox"

// harness tests the services as processes, beside a forge of its own. It is
// tests only: nothing of it is deployed, so it holds no credentials and nobody
// can lean on it.
const harness = "services/e2e"

// orchestratorTest runs an orchestrator within a test: what talks to one is
// tested against a real one, and not against an imitation.
const orchestratorTest = "services/orchestrator/orchestratortest"

// forge: only its adapter knows the code host's client library, and only the
// forge-side services and the harness know the forge.
func forge(t *tree) []Violation {
	return t.each("forge", func(f *file, imported string) string {
		switch {
		case within(imported, "github.com/google/go-github"):
			if within(f.dir, "pkg/forge/github") || f.test && within(f.dir, "pkg/forge/local") {
				return ""
			}
			return "only pkg/forge/github imports go-github; others use pkg/forge"
		case within(t.local(imported), "pkg/forge"):
			service := service(f.dir)
			if within(f.dir, "pkg/forge") || service == allInOne || f.test && within(f.dir, harness) || slices.Contains(forgeSide, service) {
				return ""
			}
			return "only the forge-side services (" + strings.Join(forgeSide, ", ") + ") import the forge: nobody else holds its credentials"
		}
		return ""
	})
}

// services: none imports another, the all-in-one and the harness excepted, and
// no package does; tests may import what runs an orchestrator for them.
func services(t *tree) []Violation {
	return t.each("services", func(f *file, imported string) string {
		mine, other := service(f.dir), service(t.local(imported))
		if other == "" || mine == other || mine == allInOne || f.test && (within(f.dir, harness) || t.local(imported) == orchestratorTest) {
			return ""
		}
		return "services/" + other + " is a deployable, not a library; what is shared belongs in pkg"
	})
}

// service returns the service that a directory belongs to.
func service(dir string) string {
	rest, ok := strings.CutPrefix(dir, "services/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// unsafe: nothing hand-written needs it, or C.
func unsafe(t *tree) []Violation {
	return t.each("unsafe", func(_ *file, imported string) string {
		if imported == "unsafe" || imported == "C" {
			return "nothing imports " + imported
		}
		return ""
	})
}
