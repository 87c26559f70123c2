package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// bin is the directory of the binaries. They are built once, for the first test
// that needs one.
var bin string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "signalbox-e2e-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		bin = dir
		return m.Run()
	}())
}

var build = sync.OnceValue(func() error {
	out, err := exec.Command("go", "build", "-ldflags=-w", "-o", bin+"/", "../...", "github.com/nats-io/nats-server/v2").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build the services: %w\n%s", err, out)
	}
	return nil
})

// binary returns the path of the binary of a service or of nats-server.
func binary(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(bin, name)
}

// roleNames returns the services that work on code, in the order they are started.
func roleNames() []string { return []string{"analyst", "tester", "developer", "navigator"} }

// serviceNames returns the services that each run as a process.
func serviceNames() []string {
	return append([]string{"orchestrator", "gateway", "pm"}, roleNames()...)
}
