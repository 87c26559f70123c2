package testrun

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

func nodeTest(tree fs.FS, _ string) (Plan, bool, error) { return nodePackage(tree, "test") }

// nodePackage detects a package.json with one of the scripts. The lock file or the
// packageManager field names the program that runs it.
func nodePackage(tree fs.FS, scripts ...string) (Plan, bool, error) {
	content := text(tree, "package.json")
	if content == "" {
		return Plan{}, false, nil
	}
	var pkg struct {
		Scripts        map[string]string `json:"scripts"`
		PackageManager string            `json:"packageManager"`
	}
	if err := json.Unmarshal([]byte(content), &pkg); err != nil {
		return Plan{}, false, fmt.Errorf("package.json: %w", err)
	}
	i := slices.IndexFunc(scripts, func(name string) bool {
		script := pkg.Scripts[name]
		// npm init writes the latter for a package without tests.
		return strings.TrimSpace(script) != "" && !strings.Contains(script, "no test specified")
	})
	if i < 0 {
		return Plan{}, false, nil
	}
	tool, _, _ := strings.Cut(pkg.PackageManager, "@")
	switch {
	case tool == "pnpm" || tool == "yarn" || tool == "npm":
	case exists(tree, "pnpm-lock.yaml"):
		tool = "pnpm"
	case exists(tree, "yarn.lock"):
		tool = "yarn"
	default:
		tool = "npm"
	}
	argv := []string{tool, "run", scripts[i]}
	if scripts[i] == "test" {
		argv = []string{tool, "test"}
	}
	return Plan{Tool: tool, Source: "package.json", Argv: argv, Env: []string{"FORCE_COLOR=0"}}, true, nil
}
