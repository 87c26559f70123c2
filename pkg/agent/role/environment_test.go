package role_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
	"github.com/signalbox/signalbox/pkg/agent/sandbox/egress"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// serveLeft serves the package left as a registry of npm does, and counts requests. It returns
// the lock that names it.
func serveLeft(t *testing.T) (lock string, requests *atomic.Int64) {
	t.Helper()
	var pack bytes.Buffer
	gz := gzip.NewWriter(&pack)
	w := tar.NewWriter(gz)
	// A cache of npm knows a package by its content.
	content := "module.exports = 42; // " + rand.Text()
	for name, content := range map[string]string{"package/package.json": `{"name":"left","version":"1.0.0"}`, "package/index.js": content} {
		err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))})
		if _, werr := w.Write([]byte(content)); errors.Join(err, werr) != nil {
			t.Fatal(err, werr)
		}
	}
	if err := errors.Join(w.Close(), gz.Close()); err != nil {
		t.Fatal(err)
	}
	requests = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		_, _ = w.Write(pack.Bytes())
	}))
	t.Cleanup(server.Close)
	t.Setenv("npm_config_registry", server.URL+"/")
	sum := sha512.Sum512(pack.Bytes())
	return fmt.Sprintf(`{"name":"x","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{
"":{"name":"x","version":"1.0.0","dependencies":{"left":"1.0.0"}},
"node_modules/left":{"version":"1.0.0","resolved":"%s/left/-/left-1.0.0.tgz","integrity":"sha512-%s"}}}`,
		server.URL, base64.StdEncoding.EncodeToString(sum[:])), requests
}

func TestWhatTheLocksNameIsPreparedOnceForAllStepsAndIsNoPartOfTheChange(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip(err)
	}
	lock, requests := serveLeft(t)
	e := newEnv(t, map[string]string{
		"package.json":      `{"name":"x","version":"1.0.0","scripts":{"test":"node test.js"},"dependencies":{"left":"1.0.0"}}`,
		"package-lock.json": lock, "test.js": "if (require('left') !== 42) process.exit(1)",
	})
	layers := t.TempDir()
	c := e.coder("developer", thinks(func(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
		if _, err := os.Stat(filepath.Join(a.Dir, "node_modules/left/index.js")); err != nil {
			t.Errorf("the brain lacks the package: %v", err)
		}
		if len(a.Evidence) != 1 || !a.Evidence[0].OK {
			t.Errorf("the tests of the base said %+v", a.Evidence)
		}
		return writes(map[string]string{"fix": "x"})(ctx, a)
	}))
	c.Layers = layers
	r, err := c.Work(t.Context(), e.first("developer", "implementing"))
	if err != nil || r.Status != instance.Success || e.content("fix", r) != "x" || e.content("node_modules/left/index.js", r) != "" {
		t.Fatalf("it ended with %+v, %v", r, err)
	}
	fetched := requests.Load()
	c = e.coder("tester", saying(instance.Success))
	c.Layers = layers
	r, err = c.Work(t.Context(), e.job("tester", "running_tests", r))
	if err != nil || len(r.Evidence) != 1 || !r.Evidence[0].OK || fetched == 0 || requests.Load() != fetched {
		t.Errorf("the tests ended with %+v, %v, after %d requests and %d more", r, err, fetched, requests.Load()-fetched)
	}
}

func TestAProgramThatWritesAmongItsPackagesHasCopiesOfThem(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip(err)
	}
	box, err := sandbox.New(t.Context(), sandbox.Bwrap)
	if err != nil {
		t.Skipf("not on this machine: %v", err)
	}
	lock, _ := serveLeft(t)
	e := newEnv(t, map[string]string{
		"package.json":      `{"name":"x","version":"1.0.0","scripts":{"test":"node test.js"},"dependencies":{"left":"1.0.0"}}`,
		"package-lock.json": lock,
		"test.js":           "const at = require.resolve('left') + '.note'; require('fs').writeFileSync(at, 'x'); if (require('left') !== 42) process.exit(1)",
	})
	c := e.coder("developer", writes(map[string]string{"fix": "x"}))
	c.Layers, c.Sandbox = t.TempDir(), box
	r, err := c.Work(t.Context(), e.first("developer", "implementing"))
	if err != nil || r.Status != instance.Success || e.content("node_modules/left/index.js", r) != "" {
		t.Fatalf("it ended with %+v, %v", r, err)
	}
	for range 2 { // the second has the copies before it runs
		tests := e.coder("tester", saying(instance.Success))
		tests.Layers, tests.Sandbox = c.Layers, box
		r, err := tests.Work(t.Context(), e.job("tester", "running_tests", r))
		if err != nil || len(r.Evidence) != 1 || !r.Evidence[0].OK {
			t.Errorf("the tests ended with %+v, %v", r, err)
		}
	}
	notes, err := filepath.Glob(filepath.Join(c.Layers, "*", "modules", "node_modules", "left", "*.note"))
	if err != nil || len(notes) > 0 {
		t.Errorf("the layer has %q, %v", notes, err)
	}
	if marks, err := filepath.Glob(filepath.Join(c.Layers, "*", "writes")); err != nil || len(marks) != 1 {
		t.Errorf("the layer is not marked: %q, %v", marks, err)
	}
}

func TestAFetchReachesTheHostsOfEgressAndNamesAPackageOfAnother(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip(err)
	}
	e := newEnv(t, map[string]string{
		"package.json": `{"name":"x","version":"1.0.0","scripts":{"test":"node test.js"},"dependencies":{"left":"git+http://127.0.0.1:1/left.git"}}`,
		"test.js":      "require('left')",
	})
	const says = "package.json takes left from the git repository http://127.0.0.1:1/left.git, whose host is not allowed: allow it with --egress 127.0.0.1:1"
	for _, egressed := range []bool{false, true} {
		c := e.coder("developer", saying(instance.Success))
		c.Layers = t.TempDir()
		if egressed {
			list, err := egress.Parse([]string{"127.0.0.1:1"})
			if err != nil {
				t.Fatal(err)
			}
			c.Egress = list
		}
		r, err := c.Work(t.Context(), e.first("developer", "implementing"))
		if got := fmt.Sprintf("%+v %v", r, err); strings.Contains(got, says) == egressed || egressed && !strings.Contains(got, "npm install") {
			t.Errorf("with --egress %v: %s", egressed, got)
		}
	}
}
