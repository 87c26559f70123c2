package roles_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/roles"
)

// Each role has a directory, whose main serves that role. From these `make build`
// makes the links.
func TestEachRoleHasItsDirectory(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, r := range roles.All() {
		main := read("services/" + r.Name + "/main.go")
		if !strings.HasPrefix(main, "// Command "+r.Name+" ") || !strings.Contains(main, fmt.Sprintf("roles.Main(%q)", r.Name)) {
			t.Errorf("services/%s/main.go does not serve %s", r.Name, r.Name)
		}
		for _, name := range regexp.MustCompile(`pkg/[\w/]+(?:\.go)?`).FindAllString(strings.ReplaceAll(main, "\n// ", " "), -1) {
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				t.Errorf("services/%s/main.go: %v", r.Name, err)
			}
		}
	}
}
