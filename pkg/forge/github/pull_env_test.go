package github_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// propose opens a pull request for fix/it, as rob.
func (e *env) propose(t *testing.T, in forge.NewPullRequest) forge.PullRequest {
	t.Helper()
	in.Title, in.Head, in.Base = "Fix it", "fix/it", "main"
	pr, err := e.client(t, "rob-token").CreatePullRequest(t.Context(), repo, in)
	must(t, err)
	return pr
}

// push writes a file on a branch and pushes it.
func (e *env) push(t *testing.T, token, branch, file, content string) (sha string) {
	t.Helper()
	g := git.New(t.TempDir()).WithToken(e.url, token).WithIdentity("Ada", "ada@example.test")
	gittest.Run(t, g, "clone", "-q", "--branch", branch, e.url+"/"+repo+".git", ".")
	must(t, os.WriteFile(filepath.Join(g.Dir(), file), []byte(content), 0o600))
	gittest.Run(t, g, "add", ".")
	gittest.Run(t, g, "commit", "-q", "-m", "Write "+file)
	gittest.Run(t, g, "push", "-q", "origin", branch)
	return gittest.Run(t, g, "rev-parse", "HEAD")
}

// rest has a person do what the adapter has no call for.
func (e *env) rest(t *testing.T, token, method, path, body string) {
	t.Helper()
	e.send(t, token, method, "/repos/"+repo+path, body)
}

func (e *env) send(t *testing.T, token, method, path, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, e.url+path, strings.NewReader(body))
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	must(t, err)
	if resp.StatusCode >= http.StatusMultipleChoices {
		t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, answer)
	}
	return string(answer)
}

// report reports a status on the commit.
func (e *env) report(t *testing.T, sha, context, state string) {
	t.Helper()
	e.rest(t, "rob-token", "POST", "/statuses/"+sha, fmt.Sprintf(`{"context":%q,"state":%q,"description":"as told"}`, context, state))
}
