package sandbox

import (
	"os"
	"path"
	"slices"
	"strings"
)

// DefaultEnv returns the names of the variables that every command gets: those of
// programs, homes, caches and the language, and no credentials.
func DefaultEnv() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR",
		"GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY",
		"GOPRIVATE", "GOTOOLCHAIN", "GOMAXPROCS", "GOOS", "GOARCH", "CGO_ENABLED",
		"CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "NVM_DIR", "VIRTUAL_ENV", "SSL_CERT_FILE", "SSL_CERT_DIR",
	}
}

// Environ returns the variables of this process that DefaultEnv or allow name. A
// name may have the wildcards of path.Match.
func Environ(allow ...string) []string {
	allow = append(DefaultEnv(), allow...)
	env := []string{}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if slices.ContainsFunc(allow, func(pattern string) bool {
			ok, _ := path.Match(pattern, name)
			return ok
		}) {
			env = append(env, v)
		}
	}
	return env
}

// lookup returns the variable's last value in env.
func lookup(env []string, name string) string {
	for _, v := range slices.Backward(env) {
		if key, value, _ := strings.Cut(v, "="); key == name {
			return value
		}
	}
	return ""
}
