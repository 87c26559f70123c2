package git

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
)

// setting is one line of configuration. It is passed in the environment, since ps
// shows arguments.
type setting struct{ key, value string }

// fixed returns the configuration of every run. It overrides the repository's own.
func fixed() []setting {
	return []setting{
		{"core.hooksPath", os.DevNull},
		{"core.fsmonitor", "false"},
		{"core.attributesFile", os.DevNull},
		{"core.excludesFile", os.DevNull},
		{"protocol.ext.allow", "never"},
		{"credential.helper", ""},
		{"commit.gpgSign", "false"},
		{"tag.gpgSign", "false"},
		{"gc.autoDetach", "false"},
		{"maintenance.auto", "false"}, // nothing here is kept by git's own clean-up, which would start two programs after each commit
		{"advice.detachedHead", "false"},
		{"init.defaultBranch", "main"},
		{"http.lowSpeedLimit", "1"}, // bytes per second; ends a connection that is half-open
		{"http.lowSpeedTime", "60"},
	}
}

// WithToken returns a runner that sends the token to URLs that begin with url. It
// follows no redirects, so the token stays with its host.
func (r Runner) WithToken(url, token string) Runner {
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
	return r.WithConfig("http."+url+".extraHeader", "Authorization: Basic "+basic).
		WithConfig("http."+url+".followRedirects", "false")
}

// WithIdentity returns a runner that sets the author and committer of commits.
func (r Runner) WithIdentity(name, email string) Runner {
	return r.WithEnv(
		"GIT_AUTHOR_NAME="+name, "GIT_AUTHOR_EMAIL="+email,
		"GIT_COMMITTER_NAME="+name, "GIT_COMMITTER_EMAIL="+email)
}

// WithEnv returns a runner with more variables, each as name=value; later ones win.
func (r Runner) WithEnv(vars ...string) Runner {
	r.env = append(r.env[:len(r.env):len(r.env)], vars...)
	return r
}

// WithConfig returns a runner that sets a configuration key. It overrides the
// repository's own.
func (r Runner) WithConfig(key, value string) Runner {
	r.config = append(r.config[:len(r.config):len(r.config)], setting{key, value})
	return r
}

func (r Runner) environ() []string {
	var env []string
	for _, v := range os.Environ() {
		if trusts(v) || !strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "LC_ALL=") {
			env = append(env, v)
		}
	}
	return append(env, r.Variables()...)
}

// Variables returns the variables that a run of git gets in addition to those of the process. They are
// the configuration of every run, and what the With methods added.
func (r Runner) Variables() []string {
	env := []string{
		"LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=", // empty, not absent: keeps SSH_ASKPASS out as well
		"GIT_EDITOR=:",
		"GIT_OPTIONAL_LOCKS=0", // reading a repository never writes its index
	}
	settings := append(fixed(), r.config...)
	env = append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)))
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s.value))
	}
	return append(env, r.env...)
}

// trusts reports whether a variable names the authorities that vouch for servers. It is
// the only one of git's own that is passed on.
func trusts(variable string) bool {
	return strings.HasPrefix(variable, "GIT_SSL_CAINFO=") || strings.HasPrefix(variable, "GIT_SSL_CAPATH=")
}
