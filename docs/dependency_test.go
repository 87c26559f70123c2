package docs_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestEveryModuleThatTheCodeImportsHasItsReason(t *testing.T) {
	reasons := page(t, "docs/adr/0011-dependencies.md")
	modules := regexp.MustCompile(`(?m)^\s(\S+) v\S+`).FindAllStringSubmatch(page(t, "go.mod"), -1)
	if len(modules) < 10 {
		t.Fatalf("only %d modules found in go.mod", len(modules))
	}
	used, all := map[string]bool{}, imports(t)
	for _, m := range modules {
		if strings.HasPrefix(m[1], "github.com/signalbox/signalbox") {
			continue // ours
		}
		for imported := range all {
			if imported == m[1] || strings.HasPrefix(imported, m[1]+"/") {
				used[m[1]] = true
			}
		}
	}
	for module := range used {
		if !strings.Contains(reasons, "`"+module+"`") {
			t.Errorf("%s is imported and not named in docs/adr/0011-dependencies.md", module)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(reasons, -1) {
		if !used[m[1]] {
			t.Errorf("docs/adr/0011-dependencies.md names %s, which nothing imports", m[1])
		}
	}
}

// imports returns the import paths of the Go files of product and tests.
func imports(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, dir := range []string{"pkg", "services", "deploy"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(name) != ".go" {
				return err
			}
			source, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, spec := range file.Imports {
				imported, _ := strconv.Unquote(spec.Path.Value)
				found[imported] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}
