package sandbox

import (
	"slices"
	"testing"
)

func TestAShimInAnotherHomeIsShownWithItsVersionManager(t *testing.T) {
	paths := Command{Argv: []string{"python3"}, Env: []string{"HOME=/home/bob", "PATH=/home/ann/.pyenv/shims:/home/ann/.nvm/versions/node/v20/bin:/usr/bin"}}.toolchain()
	for _, want := range []string{"/home/ann/.pyenv", "/home/ann/.nvm"} {
		if !slices.Contains(paths, want) {
			t.Errorf("%s is not among %q", want, paths)
		}
	}
}

func TestAProgramIsNotReplacedByAVersionThatIsToBeFetched(t *testing.T) {
	for _, c := range []Command{{Env: []string{"HOME=/home/ann"}}, {Env: []string{"HOME=/home/ann"}, Bare: true}} {
		env := Sandbox{}.environ(c, ownDirs{}, t.TempDir())
		for name, want := range map[string]string{"NPM_CONFIG_MANAGE_PACKAGE_MANAGER_VERSIONS": "false", "GOTELEMETRY": "off"} {
			if got := lookup(env, name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
}
