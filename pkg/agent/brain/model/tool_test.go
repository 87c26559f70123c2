package model_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain/model/modeltest"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

// calls has a model make calls, and returns what each came to.
func calls(t *testing.T, e *env, all ...modeltest.Call) []string {
	t.Helper()
	e.server = modeltest.New(t, modeltest.Turns(modeltest.Turn{Calls: all}, finish()))
	e.cfg.URL = e.server.URL
	e.done()
	return e.server.Requests()[1].Results
}

func TestFileToolsStayBelowTheWorkTree(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	e := newEnv(t, "anthropic", nil)
	in := func(name string) string { return filepath.Join(e.a.Dir, name) }
	if err := os.WriteFile(outside, []byte("hush"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": outside, "dir": filepath.Dir(outside), "up": "../" + filepath.Base(e.a.Dir),
		"inside": "stats.go"} {
		if err := os.Symlink(target, in(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(in("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(in(".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	do := modeltest.Do
	for _, path := range []string{outside, "../secret", "link", "dir/secret", "up/stats.go", ".git/config", ".GIT/hooks/x", "pipe"} {
		got := calls(t, e, do("read", map[string]any{"path": path}), do("write", map[string]any{"path": path, "content": "pwned"}),
			do("edit", map[string]any{"path": path, "old": "hush", "new": "pwned"}), do("grep", map[string]any{"path": path, "pattern": "hush"}))
		for i, text := range got {
			if !strings.HasPrefix(text, "error: ") && (i < 3 || strings.Contains(text, "hush")) {
				t.Errorf("%s, call %d: %s", path, i, text)
			}
		}
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "hush" {
		t.Errorf("the file outside is %q, %v", text, err)
	}
	got := calls(t, e, do("read", map[string]any{"path": in("stats.go")}), do("read", map[string]any{"path": "inside"}),
		do("write", map[string]any{"path": "new/deep/file.txt", "content": "x\n"}), do("list", nil),
		do("grep", map[string]any{"pattern": "hush|package"}))
	contains(t, got[0], "package stats")
	contains(t, got[1], "package stats")
	contains(t, got[3], "stats.go\n", "link@\n", "new/\n  deep/\n")
	if strings.Contains(got[3], ".git") || strings.Contains(got[4], "hush") || !strings.Contains(got[4], "stats.go:1: package stats") {
		t.Errorf("list and grep: %s\n%s", got[3], got[4])
	}
}

func TestAnEditSaysWhyItDoesNotFit(t *testing.T) {
	e := newEnv(t, "anthropic", nil)
	if err := os.WriteFile(filepath.Join(e.a.Dir, "twice"), []byte("a\nb\na\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(e.a.Dir, "binary"), []byte{0, 1, 2}, 0o644); err != nil {
		t.Fatal(err)
	}
	edit := func(path, old, text string, all bool) modeltest.Call {
		return modeltest.Do("edit", map[string]any{"path": path, "old": old, "new": text, "all": all})
	}
	got := calls(t, e, edit("twice", "a", "c", false), edit("twice", "x", "c", false), edit("twice", "", "c", false),
		edit("none", "a", "c", false),
		edit("binary", "a", "c", false), edit("twice", "a", "c", true), modeltest.Call{Name: "edit", Args: `{"file": "twice"}`},
		modeltest.Do("read", map[string]any{"path": "twice", "from": 2, "lines": 1}))
	for i, want := range []string{"2 times", "is not in twice as it stands", "old is empty", "there is no file none", "it is no text",
		"changed in 2 places", "unknown field",
		"b\n\n[lines 2 to 2 of 3]"} {
		contains(t, got[i], want)
	}
	if info, err := os.Stat(filepath.Join(e.a.Dir, "twice")); err != nil || info.Mode().Perm() != 0o755 || e.file("twice") != "c\nb\nc\n" {
		t.Errorf("the file is %q, %v", e.file("twice"), info.Mode())
	}
}

func TestCommandsRunInTheSandboxWithoutANetworkAndEnd(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not installed")
	}
	box, err := sandbox.New(t.Context(), sandbox.Bwrap)
	if err != nil {
		t.Skip(err)
	}
	t.Setenv("ANTHROPIC_API_KEY", "sk-very-secret")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	e := newEnv(t, "anthropic", nil)
	e.cfg.Sandbox = box
	_, port, _ := net.SplitHostPort(l.Addr().String())
	outside := filepath.Join(t.TempDir(), "outside")
	run := func(command string) modeltest.Call {
		return modeltest.Do("run", map[string]any{"command": command, "seconds": 1})
	}
	got := calls(t, e, run("echo here > made; cat made"), run("bash -c 'echo > /dev/tcp/127.0.0.1/"+port+"' && echo reached"),
		run("touch "+outside),
		run("env"), run("sleep 60"), run("head -c 300000 /dev/zero | tr '\\0' x"), modeltest.Do("read", map[string]any{"path": "made"}))
	for i, want := range []string{"exit code 0\nhere", "exit code 1", "exit code 1", "PATH=", "stopped after 1s", "bytes left out", "here\n"} {
		contains(t, got[i], want)
	}
	if strings.Contains(got[1], "reached") || strings.Contains(got[3], "sk-very-secret") || len(got[5]) > 40<<10 {
		t.Errorf("a command got out: %s\n%s", got[1], got[3])
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("a command wrote outside of the tree")
	}
}
