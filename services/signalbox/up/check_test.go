package up_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/service"
	gateway "github.com/signalbox/signalbox/services/gateway/app"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/up"
)

func TestUpRefusesWhatItCouldOnlyWarnAbout(t *testing.T) {
	t.Chdir(t.TempDir())
	forge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer right":
			http.Error(w, `{"message":"Bad credentials"}`, http.StatusUnauthorized)
		case r.URL.Path != "/api/v3/repos/acme/widgets":
			http.Error(w, `{"message":"Not Found"}`, http.StatusNotFound)
		default:
			_, _ = w.Write([]byte(`{"full_name": "acme/widgets"}`))
		}
	}))
	t.Cleanup(forge.Close)
	for name, test := range map[string]struct {
		command up.Command
		says    string
	}{
		"a web address without a port":  {up.Command{Web: "0.0.0.0"}, "--web 0.0.0.0: want HOST:PORT"},
		"a listen address without one":  {up.Command{Listen: "localhost"}, "--listen localhost: want HOST:PORT"},
		"a metrics address without one": {up.Command{HTTP: "9090"}, "--http 9090: want HOST:PORT"},
		"a webhook address without one": {up.Command{Webhook: gateway.Webhook{Addr: "127.0.0.1"}}, "--webhook 127.0.0.1: want HOST:PORT"},
		"no such directory":             {up.Command{Repo: []string{"nosuch"}}, "--repo nosuch: there is no such directory"},
		"a forge's repository":          {up.Command{Repo: []string{"acme/widgets"}}, "a repository of a forge needs --forge-url"},
		"no repository": {up.Command{Repo: []string{"acme/widgets=."}},
			"--repo .: it is not a git repository; `git init` makes it one"},
		"no name":                      {up.Command{Repo: []string{"acme=."}}, "want OWNER/NAME=DIR or DIR"},
		"a forge without a repository": {up.Command{URL: forge.URL}, "want a --repo OWNER/NAME to watch there"},
		"a forge without a token": {up.Command{URL: forge.URL, Repo: []string{"acme/widgets"}},
			"there is no token: give --forge-token-file FILE, or GITHUB_TOKEN"},
		"a forge that is not there": {up.Command{URL: "http://127.0.0.1:1", Secret: "right", Repo: []string{"acme/widgets"}},
			"--forge-url http://127.0.0.1:1"},
		"a wrong token": {up.Command{URL: forge.URL, Secret: "wrong", Repo: []string{"acme/widgets"}}, "401 Bad credentials"},
		"a wrong token for a dry run": {up.Command{URL: forge.URL, Secret: "wrong", Repo: []string{"acme/widgets"}, Dry: true},
			"401 Bad credentials"},
		"one wrong repository of three": {up.Command{URL: forge.URL, Secret: "right", Repo: []string{"acme/widgets", "acme/widgest", "a/b"}},
			"--repo acme/widgest: "},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			test.command.Data = "data"
			err := test.command.Run(t.Context(), &term.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Now: time.Now})
			if service.ExitCode(err) != service.ExitUsage || !strings.Contains(err.Error(), test.says) || out.Len() > 0 {
				t.Errorf("it ended with %v and %q, want %q", err, out.String(), test.says)
			}
			if _, err := os.Stat("data"); !errors.Is(err, os.ErrNotExist) {
				t.Error("it has begun")
			}
		})
	}
}

func TestADirectoryInARepositoryMeansTheRepository(t *testing.T) {
	g := gittest.Repo(t)
	below := filepath.Join(g.Dir(), "below")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	command := up.Command{Repo: []string{"acme/widgets=" + below}, Dry: true}
	if err := command.Run(t.Context(), &term.Env{Stdout: &out, Stderr: &out}); err != nil ||
		!strings.Contains(out.String(), " serve "+g.Dir()+";") {
		t.Errorf("it says %q, %v", out.String(), err)
	}
}
