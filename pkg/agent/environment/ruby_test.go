package environment_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/environment"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

// gem builds a gem of these files, and returns its content.
func gem(t *testing.T, name string, files map[string]string) []byte {
	t.Helper()
	dir := write(t, files)
	cmd := exec.CommandContext(t.Context(), "gem", "build", name+".gemspec")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(filepath.Join(dir, name+"-1.0.0.gem"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// gemspec is that of the gem name 1.0.0.
func gemspec(name, more string) string {
	return `Gem::Specification.new { |s| s.name, s.version, s.summary, s.authors = "` + name + `", "1.0.0", "x", ["x"]; s.files = Dir["**/*.rb"]; ` + more + ` }`
}

const lockOfGems = `PATH
  remote: .
  specs:
    own (0.1.0)

GEM
  remote: REMOTE
  specs:
    sb-build (1.0.0)
      sb-left (= 1.0.0)
    sb-left (1.0.0)
    sb-left (1.0.0-x64-mingw32)

PLATFORMS
  ruby

DEPENDENCIES
  sb-build
`

func TestGemsAreFetchedWithoutTheirCodeAndTheirExtensionsBuiltWithoutNetwork(t *testing.T) {
	t.Parallel()
	needs(t, "ruby")
	needs(t, "gem")
	for _, mode := range []sandbox.Mode{sandbox.Bwrap, sandbox.Landlock} {
		t.Run(string(mode), func(t *testing.T) { gemsAreFetched(t, mode) })
	}
}

func gemsAreFetched(t *testing.T, mode sandbox.Mode) {
	r := newRegistry(t)
	port := strings.Split(r.host(), ":")[1]
	r.files["/gems/sb-left-1.0.0.gem"] = gem(t, "sb-left", map[string]string{"sb-left.gemspec": gemspec("sb-left", ""), "lib/sb_left.rb": "module SbLeft; VALUE = 42; end\n"})
	r.files["/gems/sb-build-1.0.0.gem"] = gem(t, "sb-build", map[string]string{
		"sb-build.gemspec": gemspec("sb-build", `s.extensions = ["ext/extconf.rb"]; s.add_dependency "sb-left", "= 1.0.0"; s.bindir = "exe"; s.files += ["exe/sb-tell"]; s.executables = ["sb-tell"]`),
		"exe/sb-tell":      "#!/usr/bin/env ruby\nrequire 'sb_build_made'; puts SB_MADE\n",
		// The program that prepares the extension records whether it reaches the network.
		"ext/extconf.rb": `require "socket"; require "sb_left"
said = begin; TCPSocket.new("127.0.0.1", ` + port + `); "network"; rescue SystemCallError; "no network"; end
File.write("sb_build_made.rb", "SB_MADE = '#{said} #{SbLeft::VALUE}'\n")
File.write("Makefile", "sitearchdir = #{RbConfig::MAKEFILE_CONFIG["sitearchdir"]}\nall:\nclean:\ninstall:\n\tcp sb_build_made.rb $(sitearchdir)/\n")`,
	})
	s, box := r.storeIn(t, mode, "GEM_SOURCE="+r.URL, "GEM_PUBLIC=https://public.example")
	files := map[string]string{"Gemfile": "abort 'the Gemfile ran in the fetch' if File.exist?('order.txt')\nsource 'https://public.example'\ngem 'sb-build'\n",
		"Gemfile.lock": strings.Replace(lockOfGems, "REMOTE", "https://public.example/", 1)}
	dir := write(t, files)
	layer, made := prepare(t, s, dir, "bundler")
	if !made || r.requests.Load() == 0 {
		t.Fatalf("made %v with %d requests", made, r.requests.Load())
	}
	for _, command := range []string{"sb-tell", "ruby -e \"require 'sb_build_made'; puts SB_MADE\""} {
		if got := sh(t, box, dir, command+" 2>&1", layer); string(got.Output) != "no network 42\n" {
			t.Errorf("%s: %s %s", command, got, got.Output)
		}
	}
	if _, err := exec.LookPath("bundle"); err == nil {
		if got := sh(t, box, dir, "bundle exec sb-tell 2>&1", layer); !strings.HasSuffix(string(got.Output), "no network 42\n") {
			t.Errorf("bundle exec: %s %s", got, got.Output)
		}
	}
	if got := sh(t, box, dir, "echo x > $(gem which sb_left)", layer); got.OK() {
		t.Error("a run can change the layer")
	}
	before := r.requests.Load()
	files["test/x_test.rb"] = "x"
	if _, made := prepare(t, s, write(t, files), "bundler"); made || r.requests.Load() != before {
		t.Error("the same lock is fetched again")
	}
}

// index makes the registry offer gems by the compact index.
func (r *registry) index(all map[string]string) {
	for name, info := range all {
		r.files["/info/"+name] = []byte("---\n" + info)
	}
}

func TestTheGemsOfAGemfileWithoutALockAreFetchedAndItsCodeNeverRuns(t *testing.T) {
	t.Parallel()
	needs(t, "ruby")
	needs(t, "gem")
	r := newRegistry(t)
	for _, name := range []string{"sb-left", "sb-right"} {
		r.files["/gems/"+name+"-1.0.0.gem"] = gem(t, name, map[string]string{name + ".gemspec": gemspec(name, ""), "lib/" + strings.ReplaceAll(name, "-", "_") + ".rb": "MADE = 42\n"})
	}
	sum := sha256.Sum256(r.files["/gems/sb-left-1.0.0.gem"])
	r.index(map[string]string{
		"sb-left":  "1.0.0-x64-mingw32 |checksum:00\n1.0.0 |checksum:" + hex.EncodeToString(sum[:]) + "\n2.0.0.pre |checksum:00\n3.0.0 |checksum:00,ruby:>= 99\n",
		"sb-right": "0.9.0 |checksum:00\n1.0.0 sb-left:>= 1&< 2|\n",
	})
	s, box := r.store(t, "GEM_SOURCE="+r.URL, "GEM_PUBLIC=https://public.example")
	dir := write(t, map[string]string{
		"Gemfile": "File.write('ran', 'x')\nsource 'https://public.example'\ngemspec\ngroup :test do\n  gem 'sb-right', '~> 1.0', require: false\n  gem 'other', git: 'https://x.example'\n" +
			"  gem name\n  gem '../../x'\n  if RUBY_ENGINE == 'jruby' then gem 'json', '< 1' else gem('json') end\nend\n",
		"own.gemspec": "Gem::Specification.new do |s|\n  abort 'the gemspec ran'\n  s.add_development_dependency 'sb-left', '>= 0.5'\nend\n",
	})
	layer, made := prepare(t, s, dir, "bundler")
	if got := sh(t, box, dir, "ruby -e \"require 'sb_right'; puts MADE\" 2>&1; gem list --no-versions 2>/dev/null | grep ^sb-", layer); !made || string(got.Output) != "42\nsb-left\nsb-right\n" {
		t.Errorf("made %v, it prints %s", made, got.Output)
	}
	for name, c := range map[string]struct{ gemfile, says string }{
		"a gem that is nowhere":         {"gem 'sb-gone'", "sb-gone"},
		"a version that is nowhere":     {"gem 'sb-left', '~> 7'", "sb-left (~> 7)"},
		"a requirement that is none":    {"gem 'sb-left', 'soon'", "sb-left has no such requirement: soon"},
		"a file that is not Ruby":       {"gem \"(", "Gemfile is not Ruby"},
		"the line that helps, at least": {"gem 'sb-gone'", `add to .signalbox.yaml: setup: {command: "bundle install"}, with --egress HOST`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string]string{"Gemfile": c.gemfile})
			if _, _, err := s.Prepare(t.Context(), dir, environment.Find(os.DirFS(dir))[0]); !errors.Is(err, environment.ErrNotPrepared) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
		})
	}
	before := r.requests.Load()
	if prepare(t, s, write(t, map[string]string{"Gemfile": "gem 'json'"}), "bundler"); r.requests.Load() != before {
		t.Error("a gem that is installed is looked for")
	}
}

func TestAGemThatIsNotTheLocksOrOfAnotherSourceIsRefused(t *testing.T) {
	t.Parallel()
	needs(t, "ruby")
	r := newRegistry(t)
	r.files["/gems/sb-left-1.0.0.gem"], r.files["/gems/sb-build-1.0.0.gem"] = []byte("x"), []byte("x")
	for name, c := range map[string]struct{ lock, says string }{
		"another source":   {strings.Replace(lockOfGems, "REMOTE", "https://private.example/", 1), "from https://private.example/, which is no source"},
		"another checksum": {strings.Replace(lockOfGems, "REMOTE", r.URL+"/", 1) + "\nCHECKSUMS\n  sb-left (1.0.0) sha256=" + strings.Repeat("0", 64) + "\n", "sb-left-1.0.0.gem has another checksum"},
		"no such gem":      {strings.Replace(strings.ReplaceAll(lockOfGems, "sb-left", "sb-gone"), "REMOTE", r.URL+"/", 1), "404"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := r.store(t, "GEM_SOURCE="+r.URL, "GEM_PUBLIC=https://public.example")
			dir := write(t, map[string]string{"Gemfile": "", "Gemfile.lock": c.lock})
			if _, _, err := s.Prepare(t.Context(), dir, environment.Find(os.DirFS(dir))[0]); !errors.Is(err, environment.ErrNotPrepared) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWhereTheManifestIsCodeNothingIsFetchedAndTheLineThatHelpsIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		says  string
	}{
		"a lock of a later yarn": {map[string]string{"package.json": `{"dependencies": {"a": "1"}}`, "yarn.lock": "__metadata:\n"},
			`add to .signalbox.yaml: setup: {command: "yarn install --immutable"}, with --egress HOST`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			s, _ := r.store(t)
			dir := write(t, c.files)
			if _, _, err := s.Prepare(t.Context(), dir, environment.Find(os.DirFS(dir))[0]); !errors.Is(err, environment.ErrNotPrepared) || !strings.Contains(err.Error(), c.says) || r.requests.Load() != 0 {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTheSourceOfGemsIsThatOfTheUsersConfigurationWithoutCredentials(t *testing.T) {
	needs(t, "bundle")
	t.Setenv("BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/", "http://ann:secret@127.0.0.1:9292/")
	r := environment.Configured(context.Background(), "bundler")
	if !slices.Equal(r.Hosts, []string{"127.0.0.1:9292"}) || !slices.Contains(r.Env, "GEM_SOURCE=http://127.0.0.1:9292/") {
		t.Errorf("got %+v", r)
	}
}
