package setup_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"html"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/localforge"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/setup"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// env is a local forge with acme/widgets, and ada at a browser.
type env struct {
	url    string
	dir    string
	out    bytes.Buffer
	ended  chan error
	cancel context.CancelFunc
	told   *bufio.Reader
}

func newEnv(t *testing.T) *env {
	t.Helper()
	f, err := localforge.Open(localforge.Config{Dir: t.TempDir(), Users: []localforge.User{{Login: "ada", Token: "ada-token", Permissions: map[string]string{"acme/widgets": "admin"}}}})
	if err == nil {
		err = f.CreateRepo(t.Context(), "acme/widgets", "")
	}
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(f.Handler())
	f.SetURL(server.URL)
	t.Cleanup(func() {
		server.Close()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, variable := range []string{"SIGNALBOX_FORGE_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"} {
		t.Setenv(variable, "")
	}
	return &env{url: server.URL, dir: filepath.Join(t.TempDir(), "app")}
}

// start runs the command and returns the address of its page.
func (e *env) start(t *testing.T, wait time.Duration, change ...func(*setup.Command)) (page string) {
	t.Helper()
	c := setup.Command{Org: "acme", URL: e.url + "/api/v3/", Dir: e.dir, Listen: "127.0.0.1:0", Wait: wait, Hook: "https://hooks.example.test/"}
	for _, f := range change {
		f(&c)
	}
	read, write := io.Pipe()
	e.told, e.ended = bufio.NewReader(read), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	e.cancel = cancel
	go func() {
		err := c.Run(ctx, &term.Env{Stdout: &e.out, Stderr: write, Log: slog.New(slog.DiscardHandler)})
		_ = write.Close()
		e.ended <- err
	}()
	for {
		line, err := e.told.ReadString('\n')
		if err != nil {
			t.Fatalf("it ended with %v", <-e.ended)
		}
		if address := strings.TrimSpace(line); strings.HasPrefix(address, "http://") {
			go func() { _, _ = io.Copy(io.Discard, e.told) }()
			return address
		}
	}
}

// end returns how the command ended.
func (e *env) end() error { return <-e.ended }

// visit sends a request as ada's browser does, which follows no redirect.
func (e *env) visit(t *testing.T, method, address string, form url.Values) (status int, body, location string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if strings.HasPrefix(address, e.url) {
		r.SetBasicAuth("ada", "ada-token")
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text), resp.Header.Get("Location")
}

var (
	action = regexp.MustCompile(`action="([^"]*)"`)
	field  = regexp.MustCompile(`name="([^"]*)" value="([^"]*)"`)
)

// form returns what the form of a page is sent to, and with which values.
func form(t *testing.T, page string) (to string, values url.Values) {
	t.Helper()
	found := action.FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("there is no form:\n%s", page)
	}
	values = url.Values{}
	for _, f := range field.FindAllStringSubmatch(page, -1) {
		values.Set(f[1], html.UnescapeString(f[2]))
	}
	return html.UnescapeString(found[1]), values
}

// create walks from the command's page to where the forge sends the browser back to.
func (e *env) create(t *testing.T, page string) (back string) {
	t.Helper()
	_, body, _ := e.visit(t, "GET", page, nil)
	to, values := form(t, body)
	status, body, _ := e.visit(t, "POST", to, values)
	if status != http.StatusOK || !strings.Contains(body, "pull_requests") || !strings.Contains(body, "https://hooks.example.test/") {
		t.Fatalf("the forge's page: %d\n%s", status, body)
	}
	to, values = form(t, body)
	status, body, back = e.visit(t, "POST", e.url+to, values)
	if status != http.StatusSeeOther {
		t.Fatalf("the App is not made: %d\n%s", status, body)
	}
	return back
}

func TestAnAppIsMadeInABrowserAndUsedFromThenOn(t *testing.T) {
	e := newEnv(t)
	back := e.create(t, e.start(t, time.Minute))
	status, body, _ := e.visit(t, "GET", back, nil)
	install := e.url + "/apps/signalbox-acme/installations/new"
	if status != http.StatusOK || !strings.Contains(body, install) {
		t.Fatalf("the last page: %d\n%s", status, body)
	}
	if err := e.end(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"signalbox-acme (id ", " of acme: ", e.dir, install, "signalbox doctor --forge-url " + e.url + "/api/v3/ --repo acme/NAME",
		"--webhook HOST:PORT"} {
		if !strings.Contains(e.out.String(), want) {
			t.Errorf("%q is not said:\n%s", want, e.out.String())
		}
	}
	files, err := os.ReadDir(e.dir)
	if err != nil || len(files) != 4 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 || info.Size() < 10 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}

	flags := github.Flags{URL: e.url + "/api/v3/", AppFlags: github.AppFlags{Dir: e.dir}}
	if err := flags.Reach(t.Context(), []string{"acme/widgets"}); err == nil || !strings.Contains(err.Error(), "the App is not installed") {
		t.Errorf("before it is installed: %v", err)
	}
	_, body, _ = e.visit(t, "GET", install, nil)
	to, _ := form(t, body)
	if status, body, _ := e.visit(t, "POST", e.url+to, url.Values{"owner": {"acme"}}); status != http.StatusSeeOther {
		t.Fatalf("not installed: %d\n%s", status, body)
	}
	if err := flags.Reach(t.Context(), []string{"acme/widgets"}); err != nil {
		t.Error(err)
	}
	client, err := flags.Client()
	if err != nil {
		t.Fatal(err)
	}
	if self, err := client.Self(t.Context()); self != "signalbox-acme[bot]" {
		t.Errorf("it works as %s, %v", self, err)
	}
	if flags.WebhookSecretFile() != filepath.Join(e.dir, "webhook-secret") || len(flags.Files()) != 3 {
		t.Errorf("the files are %v, the webhook's %s", flags.Files(), flags.WebhookSecretFile())
	}

	again := setup.Command{URL: e.url, Dir: e.dir, Listen: "127.0.0.1:0", Wait: time.Minute}
	err = again.Run(t.Context(), &term.Env{Stderr: io.Discard, Stdout: io.Discard})
	if service.ExitCode(err) != service.ExitUsage || !strings.Contains(err.Error(), "--force") {
		t.Errorf("a second App: %v", err)
	}
}

func TestAnAnswerThatIsNotTheForgesStoresNothing(t *testing.T) {
	e := newEnv(t)
	page := e.start(t, time.Minute)
	at, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]int{"code=x&state=wrong": http.StatusForbidden, "code=x": http.StatusForbidden} {
		if status, body, _ := e.visit(t, "GET", "http://"+at.Host+"/made?"+query, nil); status != want {
			t.Errorf("%s: %d\n%s", query, status, body)
		}
	}
	if status, _, _ := e.visit(t, "GET", "http://"+at.Host+"/", nil); status != http.StatusNotFound {
		t.Errorf("the page is at /, too: %d", status)
	}
	back := e.create(t, page)
	used, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(e.url+"/api/v3/app-manifests/"+used.Query().Get("code")+"/conversions", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if status, body, _ := e.visit(t, "GET", back, nil); status != http.StatusGone {
		t.Errorf("with a used code: %d\n%s", status, body)
	}
	if err := e.end(); !errors.Is(err, github.ErrExpired) || !strings.Contains(err.Error(), "delete the App signalbox-acme") {
		t.Errorf("it ended with %v", err)
	}
	if _, err := github.LoadRegistration(e.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stored: %v", err)
	}
}

func TestABrowserThatIsClosedIsNotWaitedForForEver(t *testing.T) {
	e := newEnv(t)
	e.start(t, time.Millisecond)
	if err := e.end(); err == nil || !strings.Contains(err.Error(), "no answer came from the browser within 1ms") {
		t.Errorf("it ended with %v", err)
	}
	e.start(t, time.Minute)
	e.cancel()
	if err := e.end(); err == nil || !strings.Contains(err.Error(), "interrupted: nothing is stored") {
		t.Errorf("it ended with %v", err)
	}
}

func TestWhatIsWrongIsSaidBeforeAnyPageIsOpened(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]setup.Command{
		"loopback":    {Dir: t.TempDir(), Listen: "0.0.0.0:0"},
		"--dir":       {Dir: filepath.Join(file, "app"), Listen: "127.0.0.1:0"},
		"--forge-url": {URL: "ftp://forge.example.test", Dir: t.TempDir(), Listen: "127.0.0.1:0"},
	} {
		err := c.Run(t.Context(), &term.Env{Stderr: io.Discard, Stdout: io.Discard})
		if service.ExitCode(err) != service.ExitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s: %v", want, err)
		}
	}
}
