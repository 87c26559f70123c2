package workflow

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the generated pages")

func TestThePagesAreThoseOfTheBuiltins(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "docs", "workflows")
	for _, d := range builtins(t) {
		for file, want := range map[string][]byte{d.Name + ".md": []byte(Page(d)), d.Name + ".svg": SVG(d)} {
			t.Run(file, func(t *testing.T) {
				path := filepath.Join(dir, file)
				if *update {
					if err := os.MkdirAll(dir, 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, want, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				got, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s is stale: go test ./pkg/engine/workflow -update", path)
				}
			})
		}
	}
}

func builtins(t testing.TB) []*Definition {
	t.Helper()
	defs, err := Builtins()
	if err != nil {
		t.Fatal(err)
	}
	return defs
}

func TestEveryBuiltinIsInTheListOfPages(t *testing.T) {
	list, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "workflows", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range BuiltinNames() {
		if !strings.Contains(string(list), "| [`"+name+"`]("+name+".md) |") {
			t.Errorf("%s is not in the list", name)
		}
	}
}
