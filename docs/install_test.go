package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAStrangerInstallsTheProgram resolves the program as `go install …@version` does: from
// a module proxy, with no workspace. With SIGNALBOX_INSTALL=1 it also builds it.
func TestAStrangerInstallsTheProgram(t *testing.T) {
	const module = "github.com/signalbox/signalbox"
	_, line, found := strings.Cut(page(t, "README.md"), "go install "+module+"/services/signalbox@")
	version, _, _ := strings.Cut(line, "\n")
	if !found || !strings.Contains(page(t, "CHANGELOG.md"), "\n## ["+strings.TrimPrefix(version, "v")+"]") {
		t.Fatalf("README installs %q, which is no version of CHANGELOG.md", version)
	}
	mod := page(t, "go.mod")
	for _, directive := range []string{"\nreplace ", "\nexclude "} {
		if strings.Contains(mod, directive) {
			t.Errorf("go.mod has a %s directive: go install refuses a version of such a module", strings.TrimSpace(directive))
		}
	}
	proxy := t.TempDir()
	versions := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"list": version + "\n", version + ".info": `{"Version":"` + version + `","Time":"2026-01-01T00:00:00Z"}`, version + ".mod": mod,
	} {
		if err := os.WriteFile(filepath.Join(versions, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(dir string, env []string, argv ...string) string {
		t.Helper()
		c := exec.Command(argv[0], argv[1:]...)
		c.Dir, c.Env = dir, append(os.Environ(), env...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
		}
		return string(out)
	}
	// Uncommitted work counts, too. An index of the test's own: other processes lock that of the checkout.
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(t.TempDir(), "index")}
	run(root, index, "git", "read-tree", "HEAD")
	run(root, index, "git", "add", "--update")
	tree := strings.TrimSpace(run(root, index, "git", "write-tree"))
	run(root, nil, "git", "archive", "--format=zip", "--prefix="+module+"@"+version+"/", "--output="+filepath.Join(versions, version+".zip"),
		tree, "--", ".", ":!scripts") // the modules below scripts are no part of this one
	cache := strings.TrimSpace(run(root, nil, "go", "env", "GOMODCACHE"))
	dir := t.TempDir()
	env := []string{
		"GOWORK=off", "GOBIN=" + dir, "GOMODCACHE=" + t.TempDir(), "GONOSUMDB=*", "GONOSUMCHECK=1", "GOFLAGS=-modcacherw -trimpath -mod=mod",
		"GOPROXY=file://" + filepath.ToSlash(proxy) + ",file://" + filepath.ToSlash(cache) + "/cache/download",
	}
	run(dir, env, "go", "mod", "init", "example.com/stranger")
	run(dir, env, "go", "mod", "edit", "-require="+module+"@"+version)
	if deps := run(dir, env, "go", "list", "-deps", module+"/services/signalbox"); !strings.Contains(deps, module+"/proto/") {
		t.Errorf("the program's packages are\n%s\nwant those of proto among them", deps)
	}
	if os.Getenv("SIGNALBOX_INSTALL") == "" {
		return
	}
	run(dir, env, "go", "install", module+"/services/signalbox@"+version)
	if out := run(dir, nil, filepath.Join(dir, "signalbox"), "version"); !strings.Contains(out, version) {
		t.Errorf("signalbox version prints %q, want %s in it", out, version)
	}
}
