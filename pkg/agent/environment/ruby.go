package environment

import (
	_ "embed"
	"io/fs"
	"strings"
)

//go:embed gems.rb
var gems string

//go:embed resolve.rb
var resolveGems string

// installGems installs the gems that the fetch downloaded, in their order. Extensions are
// compiled here, without network.
const installGems = `mkdir -p gems && if [ -s order.txt ]; then GEM_PATH="$PWD/gems:" xargs gem install --local --force --ignore-dependencies --no-document --install-dir gems <order.txt; fi && rm -rf gems/cache`

// helpBundler ends the message of a fetch of gems that fails.
const helpBundler = "\ncommit a lock of gems that these hosts have, or add to .signalbox.yaml: setup: {command: \"bundle install\"}, with --egress HOST"

// bundler finds the lock of a Ruby project, or its Gemfile and gemspecs. Those are code, and
// are parsed only.
func bundler(tree fs.FS) (Recipe, bool) {
	r := Recipe{Tool: "bundler", Files: map[string]string{"fetch.rb": gems}, Fetch: []string{"ruby", "fetch.rb"}, Build: []string{"sh", "-c", installGems}, Help: helpBundler}
	if filled(tree, "vendor/bundle") {
		return Recipe{}, false
	}
	for _, name := range []string{"Gemfile.lock", "gems.locked"} {
		if lock := read(tree, name); lock != "" {
			_, locked, _ := strings.Cut("\n"+lock, "\nGEM\n")
			locked, _, _ = strings.Cut(locked, "\n\n")
			r.Source, r.Files["Gemfile.lock"] = name, lock
			return r, strings.Contains(locked, "\n    ")
		}
	}
	for _, name := range []string{"Gemfile", "gems.rb"} {
		if content := read(tree, name); content != "" && r.Source == "" {
			r.Source, r.Files[name], r.Files["resolve.rb"] = name, content, resolveGems
		}
	}
	specs, err := fs.Glob(tree, "*.gemspec")
	if err == nil && r.Source != "" {
		for _, name := range specs {
			r.Files[name] = read(tree, name)
		}
	}
	return r, r.Source != ""
}
