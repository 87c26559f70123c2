package deploy_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestAReleaseIsReproducible makes the files of a release for this machine in two directories, from
// the committed tree, and compares them. Then it runs the program of the archive and of the package.
func TestAReleaseIsReproducible(t *testing.T) {
	if os.Getenv("SIGNALBOX_RELEASE") == "" {
		t.Skip("skipped: it compiles everything once more; make release-check runs it")
	}
	if out, err := exec.Command("tar", "--version").Output(); err != nil || !strings.Contains(string(out), "GNU") {
		t.Skip("skipped: GNU tar is not here")
	}
	const version = "v0.0.7"
	var sums [2]map[string]string
	var dist string
	for i, name := range []string{"one", "the other"} {
		src := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(src, 0o755); err != nil {
			t.Fatal(err)
		}
		archive := exec.Command("sh", "-c", `git archive HEAD | tar -x -C "$0"`, src)
		archive.Dir = ".."
		if out, err := archive.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		release := exec.Command("scripts/release")
		release.Dir = src
		release.Env = append(os.Environ(), "PLATFORMS="+runtime.GOOS+"/"+runtime.GOARCH, "VERSION="+version, "REVISION=0123456789abcdef", "SOURCE_DATE_EPOCH=1700000000",
			"DOCKER_HOST=unix:///nowhere", "MATERIALS=no")
		if out, err := release.CombinedOutput(); err != nil {
			t.Fatalf("scripts/release: %v\n%s", err, out)
		}
		dist = filepath.Join(src, "dist")
		sums[i] = hashes(t, dist)
	}
	for name, sum := range sums[0] {
		if sums[1][name] != sum {
			t.Errorf("%s is %s, and %s when made again", name, sum, sums[1][name])
		}
	}
	base := fmt.Sprintf("signalbox_0.0.7_%s_%s", runtime.GOOS, runtime.GOARCH)
	for _, want := range []string{base + ".tar.gz", "NOTES.md", "SHA256SUMS", "signalbox.rb"} {
		if sums[0][want] == "" {
			t.Errorf("the release has no %s: %v", want, sums[0])
		}
	}
	check := exec.Command("sha256sum", "--check", "--quiet", "SHA256SUMS")
	check.Dir = dist
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("SHA256SUMS: %v\n%s", err, out)
	}
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-x", "-z", "-C", dir, "-f", filepath.Join(dist, base+".tar.gz")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	programs := []string{filepath.Join(dir, base, "signalbox")}
	if deb := filepath.Join(dist, "signalbox_0.0.7_"+runtime.GOARCH+".deb"); sums[0][filepath.Base(deb)] != "" {
		if out, err := exec.Command("dpkg-deb", "--extract", deb, filepath.Join(dir, "deb")).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		programs = append(programs, filepath.Join(dir, "deb", "usr", "bin", "signalbox"))
	}
	for _, program := range programs {
		out, err := exec.Command(program, "version", "--json").Output()
		var build struct{ Version, Revision string }
		if err != nil || json.Unmarshal(out, &build) != nil || build.Version != version || build.Revision != "0123456789abcdef" {
			t.Errorf("%s version prints %s (%v), want %s", program, out, err, version)
		}
	}
}

// hashes returns the SHA-256 of each file in a directory, by name.
func hashes(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		sums[e.Name()] = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	return sums
}
