package testrun

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
)

// nodePackage knows a package.json with a test script; the lock file or the
// packageManager field says which program runs it.
func nodePackage(tree fs.FS) (Plan, bool, error) {
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
	script := pkg.Scripts["test"]
	// What npm init writes in place of a test.
	if strings.TrimSpace(script) == "" || strings.Contains(script, "no test specified") {
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
	return Plan{Tool: tool, Source: "package.json", Argv: []string{tool, "test"}, Env: []string{"FORCE_COLOR=0"}}, true, nil
}
