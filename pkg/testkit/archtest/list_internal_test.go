package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/signalbox/signalbox/pkg/service/access"
)

const repositoryRoot = "../../.."

func repository(t *testing.T) *tree {
	t.Helper()
	repo, err := load(os.DirFS(repositoryRoot), "github.com/signalbox/signalbox")
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func TestEachRuleHasAPlantedViolation(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	planted := map[string]bool{}
	violation := regexp.MustCompile(`(?m)^\S+:\d+: (\w+): `)
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if f.Name == "want" {
				for _, m := range violation.FindAllSubmatch(f.Data, -1) {
					planted[string(m[1])] = true
				}
			}
		}
	}
	for rule := range rules {
		if !planted[rule] {
			t.Errorf("no archive in testdata has a violation of %s", rule)
		}
	}
	for rule := range planted {
		if rules[rule] == nil {
			t.Errorf("testdata has violations of %s, which is no rule", rule)
		}
	}
}

func TestEachPackageThatARuleNamesExists(t *testing.T) {
	named := append(slices.Clone(core),
		"pkg/forge", "pkg/forge/github", localForge, "services/"+allInOne, harness, orchestratorTest)
	for dir := range concurrent {
		named = append(named, dir)
	}
	for _, service := range forgeSide {
		named = append(named, "services/"+service)
	}
	for layer := range forgeLayers {
		named = append(named, localForge+"/"+layer)
	}
	dirs := repository(t).dirs()
	for _, name := range named {
		if !slices.ContainsFunc(dirs, func(dir string) bool { return within(dir, name) }) {
			t.Errorf("a rule names %s, which does not exist", name)
		}
	}
}

// An exception that is no longer needed would permit code without a reason.
func TestEachExceptionIsNeeded(t *testing.T) {
	repo := repository(t)
	used := map[string]bool{}
	repo.inspect("", func(f *file, node ast.Node) string {
		for dir := range concurrent {
			if !f.test && within(f.dir, dir) && starts(node) {
				used[dir] = true
			}
		}
		return ""
	})
	for dir := range concurrent {
		if !used[dir] {
			t.Errorf("%s may start goroutines and starts none", dir)
		}
	}
	for file, parts := range exempt {
		for _, part := range parts {
			needed := false
			for _, x := range append(literals(repo), repo.texts...) {
				needed = needed || x.file == file && strings.Contains(x.text, part)
			}
			if !needed {
				t.Errorf("%s may have %q and has not", file, part)
			}
		}
	}
	importers := map[string]bool{}
	repo.each("", func(f *file, imported string) string {
		if within(repo.local(imported), "pkg/forge") {
			importers[serviceOf(f.dir)] = true
		}
		return ""
	})
	for _, name := range append(slices.Clone(forgeSide), allInOne, serviceOf(harness)) {
		if !importers[name] {
			t.Errorf("services/%s may import the forge and does not", name)
		}
	}
}

// Who shares the account of the forge's limits is who has its credentials.
func TestTheForgeSideIsThatOfTheTableOfAccess(t *testing.T) {
	services, err := os.ReadDir(filepath.Join(repositoryRoot, "services"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range services {
		p := access.Party{Kind: access.Agent, Name: s.Name()}
		if s.Name() == "gateway" {
			p = access.Party{Kind: access.Gateway}
		}
		if want := slices.Contains(forgeSide, s.Name()); p.UsesForge() != want {
			t.Errorf("%s uses the forge: %t, want %t", p, !want, want)
		}
	}
}

// The table of packages in ARCHITECTURE.md says which are pure.
func TestThePurePackagesAreThoseOfTheDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repositoryRoot, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, row := range strings.Split(string(text), "\n") {
		cells := strings.Split(row, "|")
		if len(cells) != 4 || !strings.HasSuffix(strings.TrimSpace(cells[2]), "Pure") {
			continue
		}
		for _, m := range regexp.MustCompile("`(pkg/[^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			documented = append(documented, m[1])
		}
	}
	slices.Sort(documented)
	if diff := cmp.Diff(slices.Sorted(slices.Values(core)), documented); diff != "" {
		t.Errorf("packages that are pure (-checked +documented):\n%s", diff)
	}
}
