package environment

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// crateKeys are the keys of a Cargo.toml that say which packages are needed, by the table
// that they are in. The others name targets, whose files the fetch does not see.
var crateKeys = map[string][]string{
	"":          {"cargo-features", "package", "dependencies", "dev-dependencies", "build-dependencies", "target", "features", "workspace", "patch", "replace"},
	"package":   {"name", "version", "edition", "rust-version", "resolver", "workspace"},
	"workspace": {"members", "default-members", "exclude", "resolver", "package", "dependencies"},
}

// cargo finds a package of Rust, or a workspace, that needs packages of a registry. The fetch
// sees manifests without targets, with an empty library in the place of the code: cargo
// refuses a package without a target.
func cargo(tree fs.FS) (Recipe, bool) {
	r := Recipe{Tool: "cargo", Source: "Cargo.toml", Files: map[string]string{}, Fetch: []string{"cargo", "fetch"}}
	if config := read(tree, ".cargo/config.toml") + read(tree, ".cargo/config"); strings.Contains(config, "replace-with") {
		return Recipe{}, false // the repository has the packages
	}
	needs := r.addCrate(tree, ".")
	if lock := read(tree, "Cargo.lock"); lock != "" {
		r.Source, r.Files["Cargo.lock"] = "Cargo.lock", lock
	}
	return r, needs
}

// addCrate adds the manifest in a directory, and those of the packages of the same tree that
// it names. It reports whether any of them needs a package from elsewhere.
func (r Recipe) addCrate(tree fs.FS, dir string) (needs bool) {
	name := path.Join(dir, "Cargo.toml")
	if _, done := r.Files[name]; done || !fs.ValidPath(name) || !exists(tree, name) {
		return false
	}
	var manifest map[string]any
	if _, err := toml.Decode(read(tree, name), &manifest); err != nil {
		return false // the tests say so
	}
	pick(manifest, "")
	content, err := toml.Marshal(manifest)
	if err != nil {
		return false
	}
	r.Files[name] = string(content)
	if _, ok := manifest["package"]; ok {
		r.Files[path.Join(dir, "src/lib.rs")] = ""
	}
	dirs, needs := crateNeeds(manifest)
	if workspace, ok := manifest["workspace"].(map[string]any); ok {
		members, _ := workspace["members"].([]any)
		for _, member := range members {
			glob, _ := member.(string)
			found, _ := fs.Glob(tree, path.Join(dir, glob, "Cargo.toml"))
			for _, name := range found {
				dirs = append(dirs, strings.TrimPrefix(path.Dir(name), dir+"/"))
			}
		}
	}
	for _, below := range dirs {
		needs = r.addCrate(tree, path.Join(dir, below)) || needs
	}
	return needs
}

// pick deletes the keys of a table that are not in crateKeys.
func pick(table map[string]any, name string) {
	for key, value := range table {
		if !slices.Contains(crateKeys[name], key) {
			delete(table, key)
		} else if inner, ok := value.(map[string]any); ok && crateKeys[key] != nil && name == "" {
			pick(inner, key)
		}
	}
}

// crateNeeds returns the directories of the packages that a manifest names by their path, in
// order, and whether it names others.
func crateNeeds(table map[string]any) (dirs []string, needs bool) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		inner, ok := table[key].(map[string]any)
		if !ok {
			continue
		}
		if !strings.HasSuffix(key, "dependencies") && key != "crates-io" && key != "replace" {
			below, more := crateNeeds(inner) // of target.*, workspace, patch.*
			dirs, needs = append(dirs, below...), needs || more
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(inner)) {
			from, _ := inner[name].(map[string]any)
			if dir, ok := from["path"].(string); ok {
				dirs = append(dirs, dir)
			} else if from["workspace"] != true {
				needs = true
			}
		}
	}
	return dirs, needs
}
