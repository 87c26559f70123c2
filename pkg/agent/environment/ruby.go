package environment

import (
	_ "embed"
	"io/fs"
	"strings"
)

//go:embed gems.rb
var gems string

// installGems installs the gems that the fetch downloaded, in their order. Extensions are
// compiled here, without network.
const installGems = `GEM_PATH="$PWD/gems:" xargs gem install --local --force --ignore-dependencies --no-document --install-dir gems <order.txt && rm -rf gems/cache`

// bundler finds the lock of a Ruby project. A Gemfile is code, and so is a gemspec: without a
// lock nothing is fetched.
func bundler(tree fs.FS) (Recipe, bool) {
	lock, source := read(tree, "Gemfile.lock"), "Gemfile.lock"
	if lock == "" {
		lock, source = read(tree, "gems.locked"), "gems.locked"
	}
	switch {
	case filled(tree, "vendor/bundle"):
		return Recipe{}, false
	case lock == "" && exists(tree, "Gemfile"):
		return Recipe{Tool: "bundler", Source: "Gemfile", Lacks: "Gemfile is code, and without a Gemfile.lock its gems are not fetched: commit the lock, " +
			`or add to .signalbox.yaml: setup: {command: "bundle install"}, with --egress HOST`}, true
	}
	_, locked, _ := strings.Cut("\n"+lock, "\nGEM\n")
	locked, _, _ = strings.Cut(locked, "\n\n")
	if !strings.Contains(locked, "\n    ") {
		return Recipe{}, false
	}
	return Recipe{Tool: "bundler", Source: source, Files: map[string]string{"Gemfile.lock": lock, "fetch.rb": gems},
		Fetch: []string{"ruby", "fetch.rb"}, Build: []string{"sh", "-c", installGems}}, true
}
