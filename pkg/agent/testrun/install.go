package testrun

import (
	"encoding/json"
	"io/fs"
	"strings"
)

// way is how the dependencies of a tree are installed.
type way struct {
	tool   string
	source string   // the file that says so
	argv   []string // installs them
}

// installs are the ways to install dependencies by the file that names them, the surest
// first: a lock file names each version.
var installs = []struct {
	file string
	way
}{
	{"pnpm-lock.yaml", way{tool: "pnpm", argv: []string{"pnpm", "install", "--frozen-lockfile"}}},
	{"yarn.lock", way{tool: "yarn", argv: []string{"yarn", "install", "--frozen-lockfile"}}},
	{"package-lock.json", way{tool: "npm", argv: []string{"npm", "ci"}}},
	{"npm-shrinkwrap.json", way{tool: "npm", argv: []string{"npm", "ci"}}},
	{"package.json", way{tool: "npm", argv: []string{"npm", "install"}}},
	{"uv.lock", way{tool: "uv", argv: []string{"uv", "sync", "--frozen"}}},
	{"poetry.lock", way{tool: "poetry", argv: []string{"poetry", "install"}}},
	{"requirements-dev.txt", way{tool: "pip", argv: []string{"python3", "-m", "pip", "install", "-r", "requirements-dev.txt"}}},
	{"requirements.txt", way{tool: "pip", argv: []string{"python3", "-m", "pip", "install", "-r", "requirements.txt"}}},
	{"pyproject.toml", way{tool: "pip", argv: []string{"python3", "-m", "pip", "install", "-e", "."}}},
	{"setup.py", way{tool: "pip", argv: []string{"python3", "-m", "pip", "install", "-e", "."}}},
	{"Cargo.toml", way{tool: "cargo", argv: []string{"cargo", "fetch"}}},
	{"Gemfile", way{tool: "bundler", argv: []string{"bundle", "install"}}},
	{"pom.xml", way{tool: "maven", argv: []string{"mvn", "-B", "dependency:go-offline"}}},
	{"build.gradle", way{tool: "gradle", argv: []string{"./gradlew", "--no-daemon", "testClasses"}}},
	{"build.gradle.kts", way{tool: "gradle", argv: []string{"./gradlew", "--no-daemon", "testClasses"}}},
	{"go.mod", way{tool: "go", argv: []string{"go", "mod", "download"}}},
}

// findInstall returns how the dependencies of a tree are installed, if a file at its root
// says so. A package.json that needs nothing does not.
func findInstall(tree fs.FS) (way, bool) {
	for _, i := range installs {
		if !exists(tree, i.file) || i.file == "package.json" && !needsPackages(tree) {
			continue
		}
		i.way.source = i.file
		return i.way, true
	}
	return way{}, false
}

// needsPackages reports whether the package.json of a tree has dependencies.
func needsPackages(tree fs.FS) bool {
	var pkg struct {
		Dependencies    map[string]any `json:"dependencies"`
		DevDependencies map[string]any `json:"devDependencies"`
	}
	err := json.NewDecoder(strings.NewReader(text(tree, "package.json"))).Decode(&pkg)
	return err == nil && len(pkg.Dependencies)+len(pkg.DevDependencies) > 0
}
