package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// named matches a path as pages write it: `pkg/agent/{delivery,lease}.go`. Below
// pkg and services the first element may be left out.
var named = regexp.MustCompile("`((?:pkg/|services/|docs/|deploy/|scripts/)?[a-z0-9_./{},*-]+/[A-Za-z0-9_./{},*-]*)`")

func TestEveryFileThatTheArchitectureNamesIsThere(t *testing.T) {
	seen := 0
	for _, m := range named.FindAllStringSubmatch(page(t, "ARCHITECTURE.md"), -1) {
		for _, name := range alternatives(m[1]) {
			seen++
			if !exists(name) {
				t.Errorf("there is no %s", name)
			}
		}
	}
	if seen < 50 {
		t.Fatalf("only %d files found", seen)
	}
}

func exists(name string) bool {
	for _, below := range []string{"", "pkg", "services", "pkg/agent", "pkg/agent/brain", "pkg/base", "pkg/document", "pkg/engine", "pkg/forge", "pkg/service", "pkg/testkit"} {
		if files, err := filepath.Glob(filepath.Join(root, below, name)); err == nil && len(files) > 0 {
			return true
		}
	}
	return false
}

// alternatives expands one pair of braces.
func alternatives(name string) []string {
	before, rest, ok := strings.Cut(name, "{")
	if !ok {
		return []string{name}
	}
	list, after, _ := strings.Cut(rest, "}")
	var all []string
	for _, one := range strings.Split(list, ",") {
		all = append(all, before+one+after)
	}
	return all
}

func TestEveryServiceIsOnTheArchitecturePage(t *testing.T) {
	text := page(t, "ARCHITECTURE.md")
	entries, err := os.ReadDir(filepath.Join(root, "services"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !regexp.MustCompile("`services/[a-z,{}-]*\\b" + e.Name() + "\\b").MatchString(text) {
			t.Errorf("services/%s is not on the page", e.Name())
		}
	}
}
