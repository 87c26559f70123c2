package environment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Layer is what a recipe made. Runs read it and cannot change it.
type Layer struct {
	dir     string
	in      string   // directory of the manifests, relative to the root of a tree
	modules []string // directories of Node.js packages, relative to the root of a tree
	site    string   // directory of Python packages
	goMod   string   // download cache of Go modules
	goBuild string   // build cache of Go
	kept    string   // directory of the packages of a tool in tools
	tool    string
	hosts   []string // HOST:PORT of the registry that it is from
	writes  bool     // a program wrote among its packages
}

// tool is how the packages of a tool are kept in one directory.
type tool struct {
	name string   // of the directory, below that of the fetch and in a layer
	runs []string // variables of later runs; $DIR is the directory, and $NAME is the variable before
}

var tools = map[string]tool{
	"cargo":   {"cargo", []string{"CARGO_NET_OFFLINE=true"}}, // the directory is its home
	"bundler": {"gems", []string{"GEM_PATH=$DIR:$GEM_PATH", "PATH=$PATH:$DIR/bin"}},
	"maven":   {"m2", []string{"MAVEN_OPTS=$MAVEN_OPTS -Dmaven.repo.local=$DIR"}},
	"gradle":  {"gradle-home", nil}, // each run has a copy of the directory as its home
}

// written lists the directories in node_modules that test programs write to. Each run has
// its own.
var written = []string{".cache", ".vite", ".vite-temp", ".vitest"}

// writes is the file in a layer whose packages a program wrote to. No mount serves it.
const writes = "writes"

// refusedWrite matches the fault of a program that writes to a package of Node.js.
var refusedWrite = lazyregexp.New(`(?i)(?:EROFS|read-only file system)[^\n]*node_modules|node_modules[^\n]*(?:EROFS|read-only file system)`)

// WritesPackages reports whether a run failed because a program could not write among the packages of
// the layers. It notes that for later runs: their trees get copies of the packages, by CopyInto.
func WritesPackages(output []byte, layers []Layer) (found bool) {
	if !refusedWrite.Match(output) {
		return false
	}
	for _, l := range layers {
		if len(l.modules) > 0 {
			found = true
			_ = os.WriteFile(filepath.Join(l.dir, writes), nil, 0o600) // else the next run finds it again
		}
	}
	return found
}

// Copied reports whether trees have to have copies of the packages of a layer.
func Copied(layers []Layer) bool {
	return slices.ContainsFunc(layers, func(l Layer) bool { return l.writes })
}

// linked lists what is large in a home of Gradle and is only read: packages, and the programs
// of wrappers. Copies of the home have links to it.
var linked = []string{"caches/modules-2/files-2.1", "wrapper/dists/*/*/*"}

// collect moves what the phases made into the layer, which will be at another path.
func collect(layer, path, fetch, cache string, r Recipe) error {
	move := func(from, to string) error {
		if _, err := os.Stat(from); err != nil {
			return nil // it was not made
		}
		return errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.Rename(from, to))
	}
	var err error
	for _, name := range r.Modules {
		to := filepath.Join(layer, "modules", name)
		err = errors.Join(err, move(filepath.Join(fetch, name), to))
		if _, serr := os.Stat(to); serr == nil {
			for _, dir := range written {
				err = errors.Join(err, os.MkdirAll(filepath.Join(to, dir), 0o700))
			}
		}
	}
	if t, ok := tools[r.Tool]; ok {
		err = errors.Join(err, move(filepath.Join(fetch, t.name), filepath.Join(layer, t.name)))
	}
	switch r.Tool {
	case "gradle":
		home := filepath.Join(layer, tools[r.Tool].name)
		for _, pattern := range linked {
			found, _ := filepath.Glob(filepath.Join(home, pattern))
			for _, from := range found {
				name, _ := filepath.Rel(home, from)
				if info, serr := os.Stat(from); serr == nil && info.IsDir() {
					err = errors.Join(err, move(from, filepath.Join(layer, "linked", name)), os.Symlink(filepath.Join(path, "linked", name), from))
				}
			}
		}
	case "pip":
		err = errors.Join(err, move(filepath.Join(fetch, "site"), filepath.Join(layer, "site")))
	case "go":
		err = errors.Join(err, move(filepath.Join(cache, "go-mod", "cache", "download"), filepath.Join(layer, "go-mod")),
			move(filepath.Join(cache, "go-build"), filepath.Join(layer, "go-build")))
	}
	return err
}

// hosts is the file in a layer that has the hosts of its registry.
const hosts = "hosts"

// load describes the layer in a directory.
func load(dir string, r Recipe) Layer {
	l := Layer{dir: dir, tool: r.Tool}
	there := func(name string) string {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return ""
		}
		return filepath.Join(dir, name)
	}
	for _, name := range r.Modules {
		if there(filepath.Join("modules", name)) != "" {
			l.modules = append(l.modules, name)
		}
	}
	l.writes = there(writes) != ""
	l.site, l.goMod, l.goBuild = there("site"), there("go-mod"), there("go-build")
	if t, ok := tools[r.Tool]; ok {
		l.kept = there(t.name)
	}
	if text, err := os.ReadFile(filepath.Join(dir, hosts)); err == nil {
		l.hosts = strings.Fields(string(text))
	}
	return l
}

// In returns the layer for manifests that lie in a directory below the root of a tree.
func (l Layer) In(dir string) Layer {
	l.in = dir
	return l
}

// Apply lets a command in the tree at root use the layers. In a mode without mounts the packages of
// Node.js must have been copied into the tree, by CopyInto.
func Apply(c *sandbox.Command, root string, mode sandbox.Mode, layers []Layer) {
	used := map[string]bool{}
	for _, l := range layers {
		if l.dir == "" {
			continue
		}
		if l.kept != "" && !l.superfluous(c) && (!used[l.tool] || within(c.Dir, filepath.Join(root, l.in))) { // the nearest one, else the first
			used[l.tool] = true
			l.keep(c)
		}
		c.Readable = append(c.Readable, l.dir)
		for _, name := range l.modules {
			at := filepath.Join(root, l.in, name)
			if _, err := os.Stat(filepath.Dir(at)); err == nil && mode == sandbox.Bwrap && empty(at) {
				c.Mounts = append(c.Mounts, sandbox.Mount{From: filepath.Join(l.dir, "modules", name), At: at, Private: written})
			}
		}
		if l.site != "" {
			c.Env = prepend(prepend(c.Env, "PYTHONPATH", l.site, true), "PATH", filepath.Join(l.site, "bin"), false)
		}
		if l.goMod != "" {
			c.GoModules = append(c.GoModules, l.goMod)
		}
		if l.goBuild != "" {
			c.GoBuild = append(c.GoBuild, l.goBuild)
		}
	}
}

// superfluous reports whether a command reaches the registry itself. It may then want to add to
// the packages, as cargo install does, which it cannot do in a layer.
func (l Layer) superfluous(c *sandbox.Command) bool {
	return l.tool != "bundler" && slices.ContainsFunc(l.hosts, c.Egress.Permits)
}

// keep lets a command find the packages of a tool.
func (l Layer) keep(c *sandbox.Command) {
	switch l.tool {
	case "cargo":
		c.CargoHome = l.kept
	case "gradle":
		c.GradleHome = l.kept
	}
	c.Env = slices.Clone(c.Env)
	for _, v := range tools[l.tool].runs {
		c.Env = append(c.Env, os.Expand(v, func(name string) string {
			if name == "DIR" {
				return l.kept
			}
			for _, v := range slices.Backward(c.Env) {
				if value, ok := strings.CutPrefix(v, name+"="); ok {
					return value
				}
			}
			return ""
		}))
	}
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
}

// CopyInto copies the packages of Node.js into a tree, for commands that a mount does not
// reach. It leaves a tree that has some as it is.
func CopyInto(ctx context.Context, tree string, layers []Layer) error {
	for _, l := range layers {
		for _, name := range l.modules {
			at := filepath.Join(tree, l.in, name)
			if _, err := os.Stat(filepath.Dir(at)); err != nil || !empty(at) {
				continue
			}
			_ = os.Remove(at) // an empty directory, where a mount was
			if err := Copy(ctx, filepath.Join(l.dir, "modules", name), at); err != nil {
				return err
			}
		}
	}
	return nil
}

// empty reports whether a path is an empty directory or does not exist.
func empty(path string) bool {
	entries, err := os.ReadDir(path)
	return os.IsNotExist(err) || err == nil && len(entries) == 0
}

// prepend puts a directory before those of a variable; last puts it after them.
func prepend(env []string, name, dir string, last bool) []string {
	env = slices.Clone(env)
	for i, v := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			list := []string{dir, value}
			if last {
				list = []string{value, dir}
			}
			env[i] = name + "=" + strings.Join(list, string(filepath.ListSeparator))
			return env
		}
	}
	return append(env, name+"="+dir)
}
