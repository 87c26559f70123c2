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
