package archtest

import (
	"path"
	"slices"
	"strings"
)

// forgeSide lists the services that hold a code host's credentials.
var forgeSide = []string{"gateway", "pm", "committer", "git-manager", "shepherd"}

// ownForge is the service that serves the local forge. It holds no code host's credentials.
const ownForge = "local-forge"

// allInOne is the service that runs all others in one process.
const allInOne = "signalbox"

// allForge is the program of the services that hold a code host's credentials.
const allForge = "signalbox-github"

// harness tests the services as processes, with a forge of its own. It has tests
// only: it is not deployed, holds no credentials and cannot be imported.
const harness = "services/e2e"

// presentation lists the packages of the all-in-one that make texts for people of an instance.
// The console imports them, so that a page and a terminal print one thing.
var presentation = []string{"services/signalbox/view", "services/signalbox/term"}

// orchestratorTest runs a real orchestrator within a test. Tests of the
// orchestrator's clients import it.
const orchestratorTest = "services/orchestrator/orchestratortest"

// forge reports imports of the code host's client library outside of its adapter,
// and imports of the forge outside of the forge-side services and the harness.
func forge(t *tree) []Violation {
	return t.each("forge", func(f *file, imported string) string {
		switch {
		case within(imported, "github.com/google/go-github"):
			if within(f.dir, "pkg/forge/github", reducer) || f.test && within(f.dir, localForge) {
				return ""
			}
			return "only pkg/forge/github, and " + reducer + " for deliveries, import go-github; others use pkg/forge"
		case within(t.local(imported), "pkg/forge", localForge):
			service := serviceOf(f.dir)
			if within(f.dir, "pkg/forge", localForge, "pkg/testkit") || service == allInOne || f.test && within(f.dir, harness) || slices.Contains(forgeSide, service) ||
				service == ownForge && within(t.local(imported), localForge) {
				return ""
			}
			return "only the forge-side services (" + strings.Join(forgeSide, ", ") + ") import the forge: no other package holds its credentials"
		}
		return ""
	})
}

// walls lists the groups of packages below pkg. Each imports its own packages and those of the
// groups that are named with it. Tests, and the kits of tests, import what they need.
var walls = map[string][]string{
	"base":       {},
	"git":        {},
	"engine":     {"base"},
	"document":   {"base", "engine"},
	"service":    {"base", "engine"},
	"agent":      {"base", "document", "engine", "git", "service"},
	"forge":      {"agent", "base", "engine", "git", "service"},
	"localforge": {"base", "git", "service"},
	"testkit":    {"agent", "base", "document", "engine", "forge", "git", "localforge", "service"},
}

// tools lists the packages of services that measure the product and are no part of it.
var tools = []string{"services/signalbox/bench", "services/signalbox/eval"}

// group reports each import that crosses a wall, each group that is not in walls, and each
// import of a kit of tests by the product.
func group(t *tree) []Violation {
	return t.each("walls", func(f *file, imported string) string {
		from, to := groupOf(f.dir), groupOf(t.local(imported))
		if f.test || to == "" || from == to || strings.HasSuffix(path.Base(f.dir), "test") {
			return ""
		}
		permitted, ok := walls[from]
		switch {
		case from == "" && (to != "testkit" || within(f.dir, append(tools, orchestratorTest)...)):
			return ""
		case from == "":
			return "only tests and tools (" + strings.Join(tools, ", ") + ") import pkg/testkit: it is no part of the product"
		case !ok:
			return "pkg/" + from + " is no group in walls: put the package in one that is"
		case !slices.Contains(permitted, to):
			return "pkg/" + from + " does not import pkg/" + to + ": it imports " + strings.Join(append([]string{"its own packages"}, permitted...), ", ")
		}
		return ""
	})
}

// groupOf returns the name below pkg of the group that dir belongs to, "" if to none.
func groupOf(dir string) string {
	rest, ok := strings.CutPrefix(dir, "pkg/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// localForge is the forge of our own, which is made of the packages in forgeLayers.
const localForge = "pkg/localforge"

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
// all-in-one and the harness may import services; the console may import presentation;
// tests may import orchestratorTest.
func services(t *tree) []Violation {
	return t.each("services", func(f *file, imported string) string {
		mine, other := serviceOf(f.dir), serviceOf(t.local(imported))
		if other == "" || mine == other || mine == allInOne || mine == allForge && slices.Contains(forgeSide, other) || f.test && (within(f.dir, harness) || t.local(imported) == orchestratorTest) ||
			mine == "console" && within(t.local(imported), presentation...) {
			return ""
		}
		return "services/" + other + " is a deployable, not a library; what is shared belongs in pkg"
	})
}

// documents reports imports of the pipeline's document by agents. Tests may have them.
func documents(t *tree) []Violation {
	return t.each("documents", func(f *file, imported string) string {
		switch to := t.local(imported); {
		case f.test:
			return ""
		case within(f.dir, "pkg/agent/pipelinerole", "pkg/agent/roles"):
			return ""
		case within(f.dir, "pkg/agent") && within(to, "pkg/document/pipeline", "pkg/agent/pipelinerole"):
			return "agents know no lifecycle's document: a service's main gives them a role.Document"
		}
		return ""
	})
}

// thinking lists the packages that run brains, with their models and their servers of tools.
var thinking = []string{"pkg/agent/role", "pkg/agent/brain/exec", "pkg/agent/brain/mcp", "pkg/agent/brain/model"}

// linked reports what a program has in it, by any number of imports, and must not have: a service
// that holds a code host's credentials a brain, and any program of the product tools and kits of tests.
// The PM may have a brain: it reads the words of people with one.
func linked(t *tree) []Violation {
	var all []Violation
	for _, f := range t.files {
		service := serviceOf(f.dir)
		if f.test || f.dir != "services/"+service || f.ast.Name.Name != "main" {
			continue
		}
		holds := service != "pm" && slices.Contains(forgeSide, service)
		for _, dir := range t.closure(f.dir) {
			switch {
			case holds && within(dir, thinking...):
				all = append(all, t.at(f, f.ast.Name, "linked", "the program of a service that holds the token of the forge has "+dir+" in it: a brain runs in a process of its own"))
			case within(dir, append(tools, "pkg/testkit")...):
				all = append(all, t.at(f, f.ast.Name, "linked", "the program has "+dir+" in it: tools and kits of tests are no part of the product"))
			}
		}
	}
	return all
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
