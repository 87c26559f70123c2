package resolve_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

func TestTheTestsSeeTheSubmodulesAndTheTagsThatTheCheckoutHas(t *testing.T) {
	j := newJob(t)
	commit := func(g git.Runner, files map[string]string) {
		t.Helper()
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(g.Dir(), name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		gittest.Run(t, g, "add", "-A")
		gittest.Run(t, g, "commit", "-q", "-m", "more")
	}
	file := func(g git.Runner) git.Runner { return g.WithConfig("protocol.file.allow", "always") }
	deep, lib := gittest.Repo(t), gittest.Repo(t)
	commit(deep, map[string]string{"deep.txt": "deep\n"})
	gittest.Run(t, file(lib), "submodule", "--quiet", "add", deep.Dir(), "sub")
	commit(lib, map[string]string{"lib.txt": "lib\n"})
	g := git.New(j.repo).WithIdentity("Ada", "ada@example.test")
	gittest.Run(t, file(g), "submodule", "--quiet", "add", lib.Dir(), "lib")
	gittest.Run(t, file(g), "submodule", "--quiet", "update", "--init", "--recursive")
	commit(g, map[string]string{"check.sh": `test "$(cat lib/lib.txt lib/sub/deep.txt)" = "$(printf 'lib\ndeep')" && git describe --tags && ! grep wrong greeting` + "\n"})
	gittest.Run(t, g, "tag", "-a", "-m", "One", "v1.2.3")
	gittest.Run(t, g, "tag", "light")
	j.sandbox = "none"
	args := []string{"resolve", "--issue", j.file("issue.md", clear), "--brain", `developer=exec:git describe --tags && echo hello, world > greeting && echo x > lib/lib.txt`}
	out, said, code := j.call(args...)
	if code != 0 || out.Branch == "" || out.Tests == nil || !out.Tests.OK {
		t.Fatalf("it ended with %d, %+v: %s", code, out, said)
	}
	if files := gittest.Run(t, g, "diff", "--name-only", "trunk", out.Branch); files != "greeting" {
		t.Errorf("the change is of %q", files)
	}
	gittest.Run(t, g, "submodule", "--quiet", "deinit", "-f", "lib")
	if err := os.RemoveAll(filepath.Join(j.repo, "lib")); err != nil {
		t.Fatal(err)
	}
	if _, said, _ := j.call(append(args, "--again")...); !strings.Contains(said, "the submodule lib is not checked out here, and the work is done without: run `git -C "+j.repo+" submodule update") {
		t.Errorf("without them it says %s", said)
	}
}

func TestAFileInLFSIsNamed(t *testing.T) {
	j := newJob(t)
	g := git.New(j.repo).WithIdentity("Ada", "ada@example.test")
	for name, text := range map[string]string{".gitattributes": "*.bin filter=lfs\n", "a.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n"} {
		if err := os.WriteFile(filepath.Join(j.repo, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "-q", "-m", "more")
	if _, said, code := j.call("resolve", "--issue", j.file("issue.md", clear), "--brain", `developer=exec:echo hello, world > greeting`); code != 0 ||
		!strings.Contains(said, "a.bin is in Git LFS: the work sees its pointer") {
		t.Errorf("it ended with %d: %s", code, said)
	}
}
