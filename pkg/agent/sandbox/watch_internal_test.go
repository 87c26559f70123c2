package sandbox

import (
	"os"
	"strings"
	"testing"
)

func TestFilesBeyondTheLongestPathAreMoreThanEnough(t *testing.T) {
	dir := t.TempDir()
	at, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := used([]string{dir}, 1<<20); got > 1<<20 {
		t.Fatalf("an empty directory holds %d bytes", got)
	}
	name := strings.Repeat("d", 200)
	for range 25 { // the system takes paths of 4096 bytes
		if err := at.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		below, err := at.OpenRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		_ = at.Close()
		at = below
	}
	if err := at.WriteFile("hidden", make([]byte, 10), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = at.Close()
	if got := used([]string{dir}, 1<<20); got <= 1<<20 {
		t.Errorf("a file that no path names counts, %d bytes in all", got)
	}
}
