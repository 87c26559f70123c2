package sandbox

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/sandbox/confine"
)

// cacheAt is a second path of the caches of a command in bubblewrap. The go command compiles
// a module again that it finds in another directory, so the modules of all caches have this
// one: a build that is shared was made there, too. The whole directory is mounted, because the
// command can replace all below it with links.
const cacheAt = "/signalbox/cache"

// environ returns the environment of a confined command: that of c, with caches of
// its own below dir. Go reads this user's own build cache and modules as well, which
// are read-only.
func (s Sandbox) environ(c Command, own ownDirs, dir string) []string {
	home := lookup(c.Env, "HOME")
	at := func(name string) string { return filepath.Join(dir, name) }
	modules := at("go-mod")
	if s.Mode() == Bwrap {
		modules = filepath.Join(cacheAt, "go-mod")
	}
	env := slices.Clone(c.Env)
	if !c.Bare {
		env = append(env, "XDG_CACHE_HOME="+at("xdg"), "npm_config_cache="+at("npm"), "YARN_CACHE_FOLDER="+at("yarn"),
			"COREPACK_HOME="+at("corepack"), "PIP_CACHE_DIR="+at("pip"), "UV_CACHE_DIR="+at("uv"), "GRADLE_USER_HOME="+at("gradle"))
	}
	if c.Egress.Empty() && !c.Bare { // a host that cannot be reached is not asked again for minutes
		env = append(env, "npm_config_fetch_retries=0", "PIP_RETRIES=0", "CARGO_NET_RETRY=0")
	}
	// pnpm runs as it is installed: it does not fetch the version that a package.json names. To the
	// scripts that it runs it passes no variable that begins with npm_ in small letters.
	env = append(env, "NPM_CONFIG_MANAGE_PACKAGE_MANAGER_VERSIONS=false", "pnpm_config_manage_package_manager_versions=false")
	env = append(env, "CARGO_HOME="+cmp.Or(c.CargoHome, at("cargo")),
		"GOCACHE="+at("go-build"), "GOMODCACHE="+modules, "GOPATH="+at("go"),
		"GOFLAGS="+strings.TrimSpace(lookup(c.Env, "GOFLAGS")+" -modcacherw"),
		"GOPROXY="+s.goProxy(c), "GOTELEMETRY=off")
	if s.helper != "" {
		env = append(env, "GOCACHEPROG="+confine.CacheProgram(s.helper, append([]string{goBuild(c.Env)}, c.GoBuild...), at("go-build")))
	}
	if rustup := filepath.Join(home, ".rustup"); lookup(c.Env, "RUSTUP_HOME") == "" {
		if _, err := os.Stat(rustup); err == nil {
			env = append(env, "RUSTUP_HOME="+rustup)
		}
	}
	if s.Mode() == Landlock {
		home = own.home
		env = append(env, "HOME="+own.home)
	}
	if c.GradleHome != "" {
		env = append(env, "GRADLE_USER_HOME="+filepath.Join(home, gradleHome))
	}
	if s.Mode() == Landlock {
		return append(env, "TMPDIR="+own.tmp)
	}
	return append(env, "TMPDIR=/tmp")
}

// goProxy returns where Go finds modules: in this user's module cache, then where
// the proxy lets it.
func (s Sandbox) goProxy(c Command) string {
	further := "off"
	if !c.Egress.Empty() {
		if further = lookup(c.Env, "GOPROXY"); further == "" {
			further = ownGoProxy(c.Env)
		}
	}
	proxies := ""
	for _, downloaded := range append(slices.Clone(c.GoModules), filepath.Join(goModules(c.Env), "cache", "download")) {
		if info, err := os.Stat(downloaded); err == nil && info.IsDir() {
			proxies += "file://" + downloaded + ","
		}
	}
	return proxies + further
}

// ownGoProxy returns where Go finds modules by its own configuration.
func ownGoProxy(env []string) string {
	cmd := exec.Command("go", "env", "GOPROXY")
	cmd.Dir, cmd.Env = "/", append(slices.Clone(env), "GOTOOLCHAIN=local", "GOFLAGS=") // no module here decides
	out, err := cmd.Output()
	if err != nil {
		return "direct" // there is no Go that would ask
	}
	return strings.TrimSpace(string(out))
}

// goModules returns the module cache of the user whose environment env is.
func goModules(env []string) string {
	if dir := lookup(env, "GOMODCACHE"); dir != "" {
		return dir
	}
	if dirs := filepath.SplitList(lookup(env, "GOPATH")); len(dirs) > 0 {
		return filepath.Join(dirs[0], "pkg", "mod")
	}
	return filepath.Join(lookup(env, "HOME"), "go", "pkg", "mod")
}

// goBuild returns the build cache of the user whose environment env is.
func goBuild(env []string) string {
	if dir := lookup(env, "GOCACHE"); dir != "" {
		return dir
	}
	return filepath.Join(lookup(env, "HOME"), ".cache", "go-build")
}
