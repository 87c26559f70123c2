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

func TestTheRoleIsTheNameElseTheArgumentElseTheEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		argv       []string
		env        string
		role       string
		args, says string
	}{
		"called by its name":                       {[]string{"/usr/bin/analyst", "--workers", "2"}, "tester", "analyst", "--workers 2", ""},
		"named first":                              {[]string{"agent", "cto", "--help"}, "tester", "cto", "--help", ""},
		"from the environment":                     {[]string{"agent", "--healthcheck"}, "tester", "tester", "--healthcheck", ""},
		"an image calls it by its own name":        {[]string{"signalbox-service"}, "writer", "writer", "", ""},
		"none":                                     {[]string{"agent"}, "", "", "", `no role ""`},
		"a typo":                                   {[]string{"agent", "analist"}, "tester", "", "", `no role "analist": call it with one of analyst, build`},
		"a role that has a program of its own":     {[]string{"agent", "pm"}, "", "", "", `no role "pm"`},
		"a typo in the environment":                {[]string{"agent", "--help"}, "Tester", "", "", `no role "Tester"`},
		"no program name, as exec allows":          {nil, "build", "build", "", ""},
		"an argument that is a flag's, is no role": {[]string{"developer", "tester"}, "", "developer", "tester", ""},
	} {
		t.Run(name, func(t *testing.T) {
			role, args, err := roles.Called(c.argv, c.env)
			if role != c.role || strings.Join(args, " ") != c.args || (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("role %q, arguments %q, error %v", role, args, err)
			}
		})
	}
}

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
