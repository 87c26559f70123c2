package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

func TestACommandHasACopyOfTheHomeOfGradleThatIsThrownAway(t *testing.T) {
	home, target := t.TempDir(), filepath.Join(t.TempDir(), "big")
	for name, path := range map[string]string{"kept": filepath.Join(home, "caches/kept"), "big": target} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(target, filepath.Join(home, "linked")); err != nil {
		t.Fatal(err)
	}
	confined(t, func(t *testing.T, s sandbox.Sandbox) {
		for range 2 {
			cmd := sh(t, `cat "$GRADLE_USER_HOME/caches/kept" "$GRADLE_USER_HOME/linked" && echo x >"$GRADLE_USER_HOME/caches/kept"`)
			cmd.GradleHome, cmd.Readable = home, []string{home, filepath.Dir(target)}
			if r := run(t, s, cmd); !r.OK() || string(r.Output) != "kept\nbig\n" {
				t.Errorf("%s: %s", r, r.Output)
			}
		}
	})
}
