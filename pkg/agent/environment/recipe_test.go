package environment_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox/signalbox/pkg/agent/environment"
)

func TestARecipeIsFoundByLocksAndManifests(t *testing.T) {
	t.Parallel()
	const deps = `{"dependencies": {"a": "1"}}`
	for name, c := range map[string]struct {
		files map[string]string
		want  []string // the source and the command of each
		sees  string   // files of the first
	}{
		"nothing":                               {map[string]string{"README": ""}, nil, ""},
		"a package without any":                 {map[string]string{"package.json": `{"scripts":{"test":"node test.js"}}`}, nil, ""},
		"a package":                             {map[string]string{"package.json": deps, "src.js": ""}, []string{"package.json: npm install --ignore-scripts --no-package-lock --no-audit --no-fund"}, "package.json"},
		"a lock of npm":                         {map[string]string{"package.json": deps, "package-lock.json": "{}"}, []string{"package-lock.json: npm ci --ignore-scripts --no-audit --no-fund"}, "package-lock.json package.json"},
		"a lock of pnpm":                        {map[string]string{"package.json": deps, "pnpm-lock.yaml": "x"}, []string{"pnpm-lock.yaml: pnpm install --frozen-lockfile --ignore-scripts --config.package-import-method=copy"}, "package.json pnpm-lock.yaml"},
		"a lock of yarn":                        {map[string]string{"package.json": deps, "yarn.lock": "# yarn lockfile v1\n"}, []string{"yarn.lock: yarn install --frozen-lockfile --ignore-scripts --non-interactive"}, "package.json yarn.lock"},
		"a lock of a later yarn":                {map[string]string{"package.json": deps, "yarn.lock": "__metadata:\n"}, []string{"yarn.lock: "}, "package.json yarn.lock"},
		"packages of a later yarn":              {map[string]string{"package.json": deps, "yarn.lock": "__metadata:\n", ".pnp.cjs": "x"}, nil, ""},
		"packages that are tracked":             {map[string]string{"package.json": deps, "node_modules/a/index.js": ""}, nil, ""},
		"workspaces":                            {map[string]string{"package.json": `{"workspaces": ["packages/*"]}`, "packages/a/package.json": deps, "packages/a/a.js": ""}, []string{"package.json: npm install --ignore-scripts --no-package-lock --no-audit --no-fund"}, "package.json packages/a/package.json"},
		"requirements":                          {map[string]string{"requirements.txt": "a", "a.py": ""}, []string{"requirements.txt: python3 -m pip install --only-binary=:all: --target site --no-input --no-warn-script-location -r wanted.txt"}, "requirements.txt"},
		"a module":                              {map[string]string{"go.mod": "module x"}, []string{"go.mod: "}, "go.mod"},
		"a module that needs others":            {map[string]string{"go.mod": "module x", "go.sum": "x"}, []string{"go.mod: go mod download"}, "go.mod go.sum"},
		"a package of Rust without any":         {map[string]string{"Cargo.toml": "[package]\nname = \"x\"\n[dependencies]\na = {path = \"a\"}\n", "a/Cargo.toml": "[package]\nname = \"a\"\n"}, nil, ""},
		"a package of Rust":                     {map[string]string{"Cargo.toml": "[package]\nname = \"x\"\n[dev-dependencies]\na = \"1\"\n", "src/main.rs": "", "tests/t.rs": ""}, []string{"Cargo.toml: cargo fetch"}, "Cargo.toml src/lib.rs"},
		"a workspace of Rust":                   {map[string]string{"Cargo.toml": "[workspace]\nmembers = [\"a\", \"b/*\"]\n", "Cargo.lock": "x", "a/Cargo.toml": "[package]\nname = \"a\"\n", "b/c/Cargo.toml": "[dependencies.d]\nversion = \"1\"\n", "e/Cargo.toml": ""}, []string{"Cargo.lock: cargo fetch"}, "Cargo.lock Cargo.toml a/Cargo.toml a/src/lib.rs b/c/Cargo.toml"},
		"a package of Rust that has the others": {map[string]string{"Cargo.toml": "[dependencies]\na = \"1\"\n", ".cargo/config.toml": "[source.crates-io]\nreplace-with = \"vendored-sources\"\n"}, nil, ""},
		"a manifest of Rust with a mistake":     {map[string]string{"Cargo.toml": "[dependencies\na = \"1\"\n"}, nil, ""},
		"a lock of bundler":                     {map[string]string{"Gemfile": "x", "Gemfile.lock": lockOfGems, "x.gemspec": "x"}, []string{"Gemfile.lock: ruby fetch.rb"}, "Gemfile.lock fetch.rb"},
		"a Gemfile without a lock":              {map[string]string{"Gemfile": "gem 'x'", "x.gemspec": "x", "lib/x.rb": "x"}, []string{"Gemfile: ruby fetch.rb"}, "Gemfile fetch.rb resolve.rb x.gemspec"},
		"a lock of bundler without any":         {map[string]string{"Gemfile": "x", "Gemfile.lock": "PATH\n  remote: .\n  specs:\n    own (0.1.0)\n\nGEM\n  remote: x\n  specs:\n\nPLATFORMS\n  ruby\n"}, nil, ""},
		"gems that are tracked":                 {map[string]string{"Gemfile": "x", "Gemfile.lock": lockOfGems, "vendor/bundle/x": ""}, nil, ""},
		"a project of Maven":                    {map[string]string{"pom.xml": "<project/>", "src/test/java/A.java": ""}, []string{"pom.xml: sh fetch.sh"}, "fetch.sh pom.xml"},
		"a module that has the others":          {map[string]string{"go.mod": "module x", "go.sum": "x", "vendor/modules.txt": ""}, []string{"go.mod: "}, "go.mod go.sum"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{}
			for name, content := range c.files {
				tree[name] = &fstest.MapFile{Data: []byte(content)}
			}
			var got []string
			for i, r := range environment.Find(tree) {
				got = append(got, r.Source+": "+strings.Join(r.Fetch, " "))
				var sees []string
				for name := range r.Files {
					sees = append(sees, name)
				}
				if slices.Sort(sees); i == 0 && strings.Join(sees, " ") != c.sees {
					t.Errorf("the fetch sees %q, want %q", sees, c.sees)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestOptionsOfNpmThatNameHostsProgramsOrCredentialsAreLeftOut(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{"package.json": {Data: []byte(`{"dependencies": {"a": "1"}}`)}, ".npmrc": {Data: []byte(
		"registry=http://evil.example/\n//evil.example/:_authToken=${TOKEN}\nscript-shell=./x\nproxy=http://x\nlegacy-peer-deps = true\n")}}
	if got := environment.Find(tree)[0].Files[".npmrc"]; got != "legacy-peer-deps = true\n" {
		t.Errorf("got %q", got)
	}
}

func TestTheRegistryIsThatOfTheUsersConfigurationWithoutCredentials(t *testing.T) {
	t.Setenv("npm_config_registry", "http://127.0.0.1:4873/npm/")
	needs(t, "npm")
	r := environment.Configured(context.Background(), "npm")
	if !slices.Equal(r.Hosts, []string{"127.0.0.1:4873"}) || !slices.Equal(r.Env, []string{"npm_config_registry=http://127.0.0.1:4873/npm/"}) {
		t.Errorf("got %+v", r)
	}
	t.Setenv("PIP_INDEX_URL", "http://ann:secret@127.0.0.1:3141/simple")
	if r := environment.Configured(context.Background(), "pip"); !slices.Equal(r.Hosts, []string{"127.0.0.1:3141"}) ||
		!slices.Contains(r.Env, "PIP_INDEX_URL=http://127.0.0.1:3141/simple") {
		t.Errorf("got %+v", r)
	}
	t.Setenv("GOPROXY", "http://127.0.0.1:3000,file:///srv/mods,direct")
	needs(t, "go")
	if r := environment.Configured(context.Background(), "go"); !slices.Contains(r.Hosts, "127.0.0.1:3000") || !slices.Equal(r.Readable, []string{"/srv/mods"}) {
		t.Errorf("got %+v", r)
	}
}
