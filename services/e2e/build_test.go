package e2e

import (
	"bytes"
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

// build builds the programs. The roles that one program serves are links to it, as
// `make build` has them: linking each would take minutes.
var build = sync.OnceValue(func() error {
	mains, err := filepath.Glob("../*/main.go")
	if err != nil {
		return err
	}
	args := []string{"build", "-ldflags=-w", "-o", bin + "/", "github.com/nats-io/nats-server/v2"}
	for _, main := range mains {
		source, err := os.ReadFile(main)
		if err != nil {
			return err
		}
		dir := filepath.Dir(main)
		if !bytes.Contains(source, []byte("roles.Main")) {
			args = append(args, dir)
			continue
		}
		if err := os.Symlink("agent", filepath.Join(bin, filepath.Base(dir))); err != nil {
			return err
		}
	}
	out, err := exec.Command("go", args...).CombinedOutput()
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
