// Package environment prepares what the tests of a repository need, as its lock files and
// manifests name it: once for all roles that run them. It works in two phases in the sandbox.
// The fetch reaches the registries of packages, sees manifests and locks alone, and runs no
// script of a package. The build sees the whole tree and has no network. The result is a
// layer that later runs read and cannot change.
package environment

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Recipe is how the dependencies of a tree are fetched and built by one tool.
type Recipe struct {
	Tool    string            // npm, pnpm, yarn, pip, go, cargo, bundler, maven or gradle
	Source  string            // the file that names the dependencies
	Files   map[string]string // all that the fetch sees: content by path, relative to the root
	Fetch   []string
	Build   []string // nil: there is nothing to build
	Needs   []string // programs that the fetch runs, in addition to that of the tool
	Lacks   string   // why nothing can be fetched, and what helps; empty: it can
	Help    string   // ends the message of a fetch that fails; may be empty
	Modules []string // directories of Node.js packages that the fetch makes, relative to the root
}

// maxManifest limits the bytes of a manifest or lock that is read.
const maxManifest = 64 << 20

// Find returns the recipes of the tools whose manifests lie at the root of a tree. A tree
// that has its dependencies checked in needs none.
func Find(tree fs.FS) []Recipe {
	var all []Recipe
	for _, find := range []func(fs.FS) (Recipe, bool){node, python, goModules, cargo, bundler, maven, gradle} {
		if r, ok := find(tree); ok {
			all = append(all, r)
		}
	}
	return all
}

// packageJSON is what a recipe needs of a package.json.
type packageJSON struct {
	Dependencies         map[string]any  `json:"dependencies"`
	DevDependencies      map[string]any  `json:"devDependencies"`
	OptionalDependencies map[string]any  `json:"optionalDependencies"`
	Workspaces           json.RawMessage `json:"workspaces"`
}

// node finds a package.json with dependencies, and its lock.
func node(tree fs.FS) (Recipe, bool) {
	content := read(tree, "package.json")
	var pkg packageJSON
	if content == "" || json.Unmarshal([]byte(content), &pkg) != nil || filled(tree, "node_modules") {
		return Recipe{}, false
	}
	r := Recipe{Tool: "npm", Source: "package.json", Files: map[string]string{"package.json": content}, Modules: []string{"node_modules"}}
	for _, dir := range pkg.workspaces(tree) {
		r.Files[dir+"/package.json"] = read(tree, dir+"/package.json")
		r.Modules = append(r.Modules, dir+"/node_modules")
	}
	if len(pkg.Dependencies)+len(pkg.DevDependencies)+len(pkg.OptionalDependencies) == 0 && len(r.Modules) == 1 {
		return Recipe{}, false
	}
	if options := npmOptions(read(tree, ".npmrc")); options != "" {
		r.Files[".npmrc"] = options
	}
	r.Fetch = []string{"npm", "install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund"}
	for _, lock := range []struct {
		file, tool string
		fetch      []string
	}{
		{"pnpm-lock.yaml", "pnpm", []string{"pnpm", "install", "--frozen-lockfile", "--ignore-scripts", "--config.package-import-method=copy"}},
		{"yarn.lock", "yarn", []string{"yarn", "install", "--frozen-lockfile", "--ignore-scripts", "--non-interactive"}},
		{"npm-shrinkwrap.json", "npm", []string{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"}},
		{"package-lock.json", "npm", []string{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"}},
	} {
		if text := read(tree, lock.file); text != "" {
			r.Tool, r.Source, r.Fetch, r.Files[lock.file] = lock.tool, lock.file, lock.fetch, text
			break
		}
	}
	if r.Tool == "yarn" && !strings.Contains(r.Files["yarn.lock"], "# yarn lockfile v1") {
		if exists(tree, ".pnp.cjs") {
			return Recipe{}, false // the repository has the packages
		}
		r.Lacks = "yarn.lock is of yarn 2 or later, which is a program of the repository, so the packages that it names are not fetched: " +
			`add to .signalbox.yaml: setup: {command: "yarn install --immutable"}, with --egress HOST for each of its hosts`
		r.Fetch, r.Modules = nil, nil
	}
	if r.Tool == "npm" && strings.Contains(r.Files[r.Source], `"hasInstallScript": true`) {
		r.Build = []string{"npm", "rebuild", "--no-audit", "--no-fund"}
	}
	return r, true
}

// workspaces returns the directories of the packages that a package.json has below it.
func (p packageJSON) workspaces(tree fs.FS) (dirs []string) {
	var globs []string
	if json.Unmarshal(p.Workspaces, &globs) != nil {
		var long struct {
			Packages []string `json:"packages"`
		}
		if json.Unmarshal(p.Workspaces, &long) == nil {
			globs = long.Packages
		}
	}
	for _, glob := range globs {
		found, _ := fs.Glob(tree, path.Join(strings.TrimPrefix(glob, "./"), "package.json"))
		for _, name := range found {
			dirs = append(dirs, path.Dir(name))
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// npmOptions returns the lines of an .npmrc that say how packages are laid out. Those that
// name registries, proxies, programs and credentials are left out.
func npmOptions(content string) string {
	kept := []string{"legacy-peer-deps", "strict-peer-deps", "force", "install-strategy", "node-linker", "hoist", "hoist-pattern[]",
		"public-hoist-pattern[]", "shamefully-hoist", "auto-install-peers", "include", "omit", "optional"}
	var lines []string
	for line := range strings.Lines(content) {
		if name, _, ok := strings.Cut(line, "="); ok && slices.Contains(kept, strings.TrimSpace(name)) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if lines == nil {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// python finds the files that name the packages of a Python project.
func python(tree fs.FS) (Recipe, bool) {
	r := Recipe{Tool: "pip", Files: map[string]string{}}
	for _, pattern := range []string{"uv.lock", "poetry.lock", "requirements.txt", "*requirements*.txt", "requirements/*.txt", "pyproject.toml", "setup.cfg"} {
		found, _ := fs.Glob(tree, pattern)
		for _, name := range found {
			if text := read(tree, name); text != "" {
				r.Files[name] = text
				if r.Source == "" {
					r.Source = name
				}
			}
		}
	}
	r.Fetch = []string{"python3", "-m", "pip", "install", "--only-binary=:all:", "--target", "site", "--no-input", "--no-warn-script-location", "-r",
		"wanted.txt"}
	return r, r.Source != ""
}

// goModules finds a module, or a workspace of several.
func goModules(tree fs.FS) (Recipe, bool) {
	r := Recipe{Tool: "go", Source: "go.mod", Files: map[string]string{}, Build: []string{"go", "list", "-e", "-export", "-deps", "-test", "./..."}}
	names := []string{"go.mod", "go.sum"}
	if exists(tree, "go.work") {
		r.Source, r.Build = "go.work", nil
		names = append(names, "go.work", "go.work.sum")
		for _, pattern := range []string{"*/go.mod", "*/*/go.mod"} {
			found, _ := fs.Glob(tree, pattern)
			for _, name := range found {
				names = append(names, name, path.Join(path.Dir(name), "go.sum"))
			}
		}
	}
	for _, name := range names {
		if exists(tree, name) {
			r.Files[name] = read(tree, name)
		}
	}
	for name := range r.Files {
		if strings.HasSuffix(name, ".sum") && !exists(tree, "vendor/modules.txt") {
			r.Fetch = []string{"go", "mod", "download"}
		}
	}
	return r, exists(tree, r.Source)
}

// filled reports whether a directory has anything in it. A mount leaves an empty one.
func filled(tree fs.FS, dir string) bool {
	entries, err := fs.ReadDir(tree, dir)
	return err == nil && len(entries) > 0
}

func exists(tree fs.FS, name string) bool {
	_, err := fs.Stat(tree, name)
	return err == nil
}

// read returns the content of a file, or "" if it cannot be read or is too long.
func read(tree fs.FS, name string) string {
	info, err := fs.Stat(tree, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxManifest {
		return ""
	}
	f, err := tree.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	var text bytes.Buffer
	if _, err := io.Copy(&text, io.LimitReader(f, maxManifest)); err != nil {
		return ""
	}
	return text.String()
}
