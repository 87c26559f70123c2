package github_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge/github"
)

func TestWhatIsWrongWithTheForgeIsNamedByItsFlag(t *testing.T) {
	e := newEnv(t)
	file := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(file, []byte("stale\n"), 0o600))
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	t.Cleanup(page.Close)
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(busy.Close)
	for name, test := range map[string]struct {
		flags github.Flags
		repo  string
		says  string // empty: nothing is wrong
	}{
		"all is right":       {github.Flags{URL: e.url, Token: "rob-token"}, repo, ""},
		"a spent rate limit": {github.Flags{URL: busy.URL, Token: "rob-token"}, repo, ""},
		"nobody listens": {github.Flags{URL: "http://127.0.0.1:1", Token: "t"}, repo,
			"--forge-url http://127.0.0.1:1: github: read repository acme/widgets: the forge does not answer: dial tcp 127.0.0.1:1: connect: connection refused; want the address of its REST API"},
		"a page in place of REST": {github.Flags{URL: page.URL, Token: "t"}, repo, "want the address of its REST API"},
		"credentials in the URL": {github.Flags{URL: "https://ann:pw@example.com"}, repo,
			"--forge-url: github: the forge refuses the content: the base URL must be like https://github.example.com, without credentials"},
		"a wrong token": {github.Flags{URL: e.url, Token: "wrong"}, repo,
			"--forge-token: github: read repository acme/widgets: the forge denies it, for it does not take the credentials: 401 Bad credentials; want one that may read and write acme/widgets"},
		"a stale file": {github.Flags{URL: e.url, TokenFile: file}, repo, "--forge-token-file " + file},
		"no token":     {github.Flags{URL: e.url}, repo, "of a repository there that everybody may see"},
		"a misspelt repository": {github.Flags{URL: e.url, Token: "rob-token"}, "acme/widgest",
			"--repo acme/widgest: github: read repository acme/widgest: not found on the forge: 404 Not Found at http://127.0.0.1:"},
		"a name without its owner": {github.Flags{URL: e.url, Token: "rob-token"}, "widgets",
			"--repo widgets: the forge refuses the content: want OWNER/NAME"},
		"a directory": {github.Flags{URL: e.url, Token: "rob-token"}, ".", "a directory needs no --forge-url"},
		"the address of a page": {github.Flags{URL: e.url, Token: "rob-token"}, "https://github.com/acme/widgets.git",
			"did you mean acme/widgets?"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.flags.Reach(t.Context(), []string{test.repo})
			if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("it says %v, want %q", err, test.says)
			}
		})
	}
}
