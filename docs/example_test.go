package docs_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheReadmesExampleWorks runs what README says of one's own repository, and the
// shortest lifecycle, on the repository that greet.sh makes.
func TestTheReadmesExampleWorks(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "here")
	run := func(name string, args ...string) []byte {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return out
	}
	if out, err := exec.Command("mkdir", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run("sh", filepath.Join(root, "docs/example/greet.sh"), "../greet")
	made := 0
	for _, block := range fence.FindAllStringSubmatch(page(t, "README.md"), -1) {
		if block[1] == "sh" && strings.HasPrefix(block[2], "cat >") {
			made++
			script, _, _ := strings.Cut(block[2], "\nbin/signalbox")
			run("sh", "-c", script)
		}
	}
	if made != 2 {
		t.Fatalf("README makes %d files, want the issue and the developer", made)
	}
	for _, flags := range [][]string{nil, {"--workflow", "fix", "--workflow-dir", filepath.Join(root, "docs/example")}} {
		data := filepath.Join(t.TempDir(), "data")
		text := run(binary(t, "signalbox"), append([]string{"resolve", "--repo", "../greet", "--issue", "issue.md", "--json", "--data", data, "--sync", "1s",
			"--brain", "developer=exec:./developer.sh"}, flags...)...)
		var out struct {
			State, Branch string
			PullRequest   *struct{ Title string } `json:"pull_request"`
		}
		if err := json.Unmarshal(text, &out); err != nil || !strings.HasPrefix(out.Branch, "signalbox/issue-1-hello-is-spelled-wrong") || out.PullRequest == nil {
			t.Errorf("%q ended with %s: %v", flags, text, err)
		}
		if code := run("git", "-C", "../greet", "show", out.Branch+":greet.go"); !strings.Contains(string(code), `"Hello, "`) {
			t.Errorf("%q left %s", flags, code)
		}
	}
}
