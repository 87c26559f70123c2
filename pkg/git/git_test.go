package git_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/testkit/faultproxy"
)

func repository(t *testing.T) git.Runner {
	t.Helper()
	g := gittest.Repo(t)
	gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "first")
	return g
}

func TestRunReturnsTheOutputWithoutItsNewline(t *testing.T) {
	g := repository(t)
	if got := gittest.Run(t, g, "log", "-1", "--format=%an <%ae> %s"); got != "Ada <ada@example.test> first" {
		t.Errorf("log = %q", got)
	}
}

func TestFailureTellsArgumentsExitCodeAndStderr(t *testing.T) {
	_, err := repository(t).Run(t.Context(), "rev-parse", "--verify", "refs/heads/absent")
	var failed *git.Error
	if !errors.As(err, &failed) {
		t.Fatalf("err = %v, want a *git.Error", err)
	}
	if failed.ExitCode != 128 || git.ExitCode(err) != 128 || !strings.Contains(failed.Stderr, "Needed a single revision") {
		t.Errorf("err = %#v", failed)
	}
}

func TestCredentialsOfURLsStayOutOfErrors(t *testing.T) {
	_, err := git.New(t.TempDir()).Run(t.Context(), "ls-remote", "http://ada:hunter2@127.0.0.1:1/x.git")
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("err = %v", err)
	}
}

func TestOutputIsCutAtItsLimit(t *testing.T) {
	g := repository(t)
	if err := os.WriteFile(filepath.Join(g.Dir(), "big"), bytes.Repeat([]byte("x"), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	blob := gittest.Run(t, g, "hash-object", "-w", "big")
	out, err := g.Output(t.Context(), 1000, "cat-file", "blob", blob)
	if !errors.Is(err, git.ErrTooLarge) || len(out) != 1000 {
		t.Errorf("got %d bytes, err = %v", len(out), err)
	}
	if out, err = g.Output(t.Context(), 1<<20, "cat-file", "blob", blob); err != nil || len(out) != 1<<20 {
		t.Errorf("exactly at the limit: got %d bytes, err = %v", len(out), err)
	}
}

func TestEnvironmentOfTheProcessDoesNotReachGit(t *testing.T) {
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("GIT_AUTHOR_NAME", "Mallory")
	g := repository(t)
	if got := gittest.Run(t, g, "log", "-1", "--format=%an"); got != "Ada" {
		t.Errorf("author = %q", got)
	}
}

func TestAForgeIsTrustedByAnAuthorityOfItsOwn(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	reached := func() bool { // git says that there is no repository, not that it trusts nobody
		_, err := git.New(t.TempDir()).Run(t.Context(), "ls-remote", server.URL+"/a/b.git")
		return err != nil && strings.Contains(err.Error(), "not found")
	}
	t.Setenv("GIT_SSL_CAINFO", os.DevNull)
	if reached() {
		t.Error("git trusts a server that nobody vouches for")
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_SSL_CAINFO", file)
	if !reached() {
		t.Error("git does not trust the server of the authority that the environment names")
	}
}

func TestHooksOfTheRepositoryDoNotRun(t *testing.T) {
	g := repository(t)
	hook := filepath.Join(g.Dir(), ".git", "hooks", "pre-commit")
	if err := errors.Join(os.Mkdir(filepath.Dir(hook), 0o700), os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "second")
	if got := gittest.Run(t, g, "log", "-1", "--format=%s"); got != "second" {
		t.Errorf("last commit = %q", got)
	}
}

func TestTokenIsSentToItsHostOnlyAndNotByArgument(t *testing.T) {
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		http.NotFound(w, r)
	}))
	defer server.Close()
	g := git.New(t.TempDir())
	for _, host := range []string{server.URL, "http://elsewhere.test"} {
		_, err := g.WithToken(host, "s3cret").Run(t.Context(), "ls-remote", server.URL+"/a/b.git")
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Fatalf("err = %v", err)
		}
	}
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:s3cret"))
	if len(seen) != 2 || seen[0] != want || seen[1] != "" {
		t.Errorf("authorizations = %q, want %q and none", seen, want)
	}
}

func TestAConnectionThatDiedWithoutAWordIsGivenUp(t *testing.T) {
	r := git.New(t.TempDir())
	if got, err := r.Run(t.Context(), "config", "http.lowSpeedTime"); err != nil || got != "60" {
		t.Errorf("a silent connection is waited for %s s, %v; want 60", got, err)
	}
	hears, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hears.Close()
	line := faultproxy.Start(t, hears.Addr().String())
	line.Set(faultproxy.Cut())
	_, err = r.WithConfig("http.lowSpeedTime", "1").Run(t.Context(), "ls-remote", "http://"+line.Addr()+"/x.git")
	if err == nil || !strings.Contains(err.Error(), "too slow") {
		t.Errorf("it ended with %v", err)
	}
}

func TestContextEndsGitAndItsHelpers(t *testing.T) {
	g := repository(t)
	ctx, cancel := context.WithCancel(t.Context())
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	done := make(chan error, 1)
	go func() {
		// The alias is a grandchild that writes once and would then outlive git.
		done <- g.WithConfig("alias.hang", "!echo up; trap '' TERM; sleep 1000").Stream(ctx, nil, write, "hang")
	}()
	buf := make([]byte, 3)
	if _, err := read.Read(buf); err != nil || string(buf) != "up\n" {
		t.Fatalf("read %q, %v", buf, err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want context.Canceled", err)
	}
	write.Close()
	// End of file comes only when nobody holds the other end any more.
	if n, err := read.Read(buf); n != 0 || err == nil {
		t.Errorf("read %d bytes, err = %v, want end of file", n, err)
	}
}

func TestStreamFeedsStandardInput(t *testing.T) {
	g := repository(t)
	var out bytes.Buffer
	if err := g.Stream(t.Context(), strings.NewReader("hello"), &out, "hash-object", "-w", "--stdin"); err != nil {
		t.Fatal(err)
	}
	if got := gittest.Run(t, g, "cat-file", "blob", strings.TrimSpace(out.String())); got != "hello" {
		t.Errorf("blob = %q", got)
	}
}

func TestVersionIsToldWithoutItsPrefix(t *testing.T) {
	v, err := git.Version(t.Context())
	if err != nil || v == "" || v[0] < '0' || v[0] > '9' {
		t.Errorf("version = %q, err = %v", v, err)
	}
}
