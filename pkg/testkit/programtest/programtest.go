// Package programtest builds the programs of this repository for tests. All test binaries
// share them: they lie in bin/test, and the go command links only those that have changed.
package programtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"testing"
)

const natsServer = "github.com/nats-io/nats-server/v2"

// Services builds both programs and returns their directory, which has a link for each
// service, as after `make build`. Short tests are skipped.
func Services(t testing.TB) string {
	t.Helper()
	return built(t, services)
}

// NATSServer builds the nats-server that is tested with and returns its path. Short tests
// are skipped.
func NATSServer(t testing.TB) string {
	t.Helper()
	return filepath.Join(built(t, server), "nats-server")
}

func built(t testing.TB, build func() (string, error)) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds programs")
	}
	dir, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var server = sync.OnceValues(func() (string, error) { return build(natsServer) })

// holder matches an import of signalbox-github: a service that it serves, as in the Makefile.
var holder = regexp.MustCompile(`/services/([a-z-]+)/app"`)

var services = sync.OnceValues(func() (string, error) {
	root, err := findRoot()
	if err != nil {
		return "", err
	}
	mains, err := filepath.Glob(filepath.Join(root, "services/*/main.go"))
	if err != nil {
		return "", err
	}
	programs, served := []string{"signalbox", "signalbox-github"}, map[string]bool{}
	source, err := os.ReadFile(filepath.Join(root, "services/signalbox-github/main.go"))
	if err != nil {
		return "", err
	}
	for _, m := range holder.FindAllSubmatch(source, -1) {
		served[string(m[1])] = true
	}
	dir, err := build("./services/"+programs[0], "./services/"+programs[1])
	for _, main := range mains {
		name, to := filepath.Base(filepath.Dir(main)), programs[0]
		if served[name] {
			to = programs[1]
		}
		if err == nil && !slices.Contains(programs, name) {
			err = link(to, filepath.Join(dir, name))
		}
	}
	return dir, err
})

// link makes path a symbolic link, also if an earlier version of the repository left
// another file there.
func link(to, path string) error {
	if now, err := os.Readlink(path); err == nil && now == to {
		return nil
	}
	next := path + ".next"
	if err := os.Symlink(to, next); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Rename(next, path)
}

// build builds packages into bin/test, one process at a time, and returns that directory.
func build(packages ...string) (dir string, err error) {
	root, err := findRoot()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(root, "bin/test")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }() // which ends the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", dir, err)
	}
	cmd := exec.Command("go", append([]string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", dir + "/"}, packages...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %q: %w\n%s", packages, err, out)
	}
	return dir, nil
}

// findRoot returns the directory of go.mod, from that of the test.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", errors.New("no directory above the test's has a go.mod")
		}
		dir = above
	}
}
