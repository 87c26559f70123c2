package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/service/embedded"
	"github.com/signalbox/signalbox/services/signalbox/cli"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

func TestCleanRemovesWhatWasNotUsedForLongAndNothingThatIsInUse(t *testing.T) {
	cache, state := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("XDG_STATE_HOME", state)
	now := time.Now()
	fill := func(parent, name string, age time.Duration) string {
		t.Helper()
		dir := filepath.Join(parent, name)
		file := filepath.Join(dir, "log", "file")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	const day = 24 * time.Hour
	work, logs := filepath.Join(cache, "signalbox", "work"), filepath.Join(state, "signalbox", "resolve")
	old, fresh, log, used := fill(work, "old", 40*day), fill(work, "fresh", day), fill(logs, "log", 40*day), fill(logs, "used", 40*day)
	if err := os.Chmod(filepath.Join(old, "log"), 0o500); err != nil { // as a cache of modules is
		t.Fatal(err)
	}
	lock, err := embedded.Hold(filepath.Join(used, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	clean := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		env := term.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, User: "operator:ann", Now: func() time.Time { return now }}
		if code := cli.Run(t.Context(), env, append([]string{"clean"}, args...)); code != want {
			t.Errorf("clean %v ended with %d: %s", args, code, out.String())
		}
		return out.String()
	}
	left := func(dirs ...string) {
		t.Helper()
		for _, dir := range []string{old, fresh, log, used} {
			_, err := os.Stat(dir)
			want := false
			for _, one := range dirs {
				want = want || one == dir
			}
			if (err == nil) != want {
				t.Errorf("%s is there: %v, want %v", dir, err == nil, want)
			}
		}
	}
	if out := clean(0, "--dry-run"); strings.Count(out, "would be removed") != 3 || !strings.Contains(out, "in use") { // two, and the sum
		t.Errorf("it says\n%s", out)
	}
	left(old, fresh, log, used)
	if out := clean(0); strings.Count(out, "removed") != 3 {
		t.Errorf("it says\n%s", out)
	}
	left(fresh, used)
	clean(0, "--older-than", "0s", "--json")
	left(used)
	clean(2, "--older-than=-1h")
}
