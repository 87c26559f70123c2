package app_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/access/accesstest"
	"github.com/signalbox/signalbox/services/console/app"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

const (
	appSecret = "the-secret-of-the-app"
	userToken = "gho_the-token-of-the-person"
)

// fakeGitHub is GitHub as far as signing in needs it.
type fakeGitHub struct {
	*httptest.Server
	mu        sync.Mutex
	login     string            // of the person in the browser
	teams     map[string]string // "org/slug" to the state of the membership
	challenge map[string]string // by code
	redirect  string            // of the app, as it is registered
	broken    string            // an endpoint, and the way in which it is wrong
	asked     int               // requests of the API
}

// change changes it while nothing reads it.
func (g *fakeGitHub) change(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
}

func newGitHub(t *testing.T) *fakeGitHub {
	g := &fakeGitHub{challenge: map[string]string{}, teams: map[string]string{}}
	mux := http.NewServeMux()
	locked := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			g.mu.Lock()
			defer g.mu.Unlock()
			h(w, r)
		}
	}
	mux.HandleFunc("GET /login/oauth/authorize", locked(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("client_id") != "app-1" || q.Get("redirect_uri") != g.redirect || q.Get("scope") != "read:org" || q.Get("code_challenge_method") != "S256" {
			t.Errorf("the browser comes with %v", q)
		}
		code := fmt.Sprintf("code-%d", len(g.challenge))
		g.challenge[code] = q.Get("code_challenge")
		back := url.Values{"code": {code}, "state": {q.Get("state")}}
		if g.broken == "denied" {
			back = url.Values{"error": {"<script>alert(1)</script>"}, "error_description": {"no"}, "state": {q.Get("state")}}
		}
		http.Redirect(w, r, g.redirect+"?"+back.Encode(), http.StatusFound)
	}))
	mux.HandleFunc("POST /login/oauth/access_token", locked(func(w http.ResponseWriter, r *http.Request) {
		code := r.PostFormValue("code")
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		w.Header().Set("Content-Type", "application/json")
		if g.challenge[code] == "" || base64.RawURLEncoding.EncodeToString(sum[:]) != g.challenge[code] || r.PostFormValue("client_secret") != appSecret {
			_, _ = fmt.Fprintf(w, `{"error": "bad_verification_code", "error_description": %q}`, appSecret)
			return
		}
		delete(g.challenge, code)
		_ = json.NewEncoder(w).Encode(map[string]string{"access_token": userToken, "token_type": "bearer", "scope": "read:org"})
	}))
	mux.HandleFunc("GET /api/v3/user", locked(func(w http.ResponseWriter, r *http.Request) {
		g.asked++
		switch g.broken {
		case "elsewhere":
			http.Redirect(w, r, "http://evil.example.test/", http.StatusFound)
			return
		case "huge":
			_, _ = w.Write(bytes.Repeat([]byte(" "), 2<<20))
		}
		if r.Header.Get("Authorization") != "Bearer "+userToken {
			t.Errorf("the API is asked with %q", r.Header.Get("Authorization"))
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"login": g.login})
	}))
	mux.HandleFunc("GET /api/v3/orgs/{org}/teams/{slug}/memberships/{login}", locked(func(w http.ResponseWriter, r *http.Request) {
		g.asked++
		state := g.teams[r.PathValue("org")+"/"+r.PathValue("slug")]
		switch {
		case g.broken == "teams":
			http.Error(w, "approve the app first", http.StatusForbidden)
		case state == "" || !strings.EqualFold(r.PathValue("login"), g.login):
			http.NotFound(w, r)
		default:
			_ = json.NewEncoder(w).Encode(map[string]string{"state": state})
		}
	}))
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	return g
}

// safeBuffer is a buffer that several goroutines write to.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}
func (b *safeBuffer) String() string { b.mu.Lock(); defer b.mu.Unlock(); return b.b.String() }

func secretFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(appSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// withGitHub returns a console by which people sign in with GitHub, and its log.
func withGitHub(t *testing.T) (*env, *fakeGitHub, *safeBuffer) {
	t.Helper()
	system := access.Party{Kind: access.Orchestrator}
	server := accesstest.Start(t, access.Services("developer")...)
	settings := lifecycles(t)
	settings.GitHubRight = "admin"
	orchestratortest.StartOn(t, service.NATS{URL: server.URL, NKey: server.Key(t, system)}, 1, settings, slog.New(slog.DiscardHandler))
	g, log := newGitHub(t), new(safeBuffer)
	e := serveWith(t, service.NATS{URL: server.URL, NKey: server.Key(t, access.Party{Kind: access.Console})}, app.Settings{GitHub: app.GitHub{ClientID: "app-1",
		SecretFile: secretFile(t), URL: g.URL, Teams: []string{"acme/readers=view", "acme/devs=act", "acme/owners=admin"}}}, slog.New(slog.NewJSONHandler(log, nil)))
	e.client = client.New(server.As(t, system), "operator:bob")
	g.redirect = e.console.URL + "signin/github/callback"
	return e, g, log
}

func TestAMemberOfATeamSignsInByGitHubWithTheRightOfTheTeam(t *testing.T) {
	e, g, log := withGitHub(t)
	e.open("acme/widgets/1")
	for _, step := range []struct {
		login string
		teams map[string]string
		form  url.Values
		says  string // by the page of the form; empty: the person is not signed in
	}{
		{"Vera", map[string]string{"acme/readers": "active"}, url.Values{"do": {"pause"}}, "view-vera@github may not pause"},
		{"Octo-Cat", map[string]string{"acme/devs": "active", "acme/readers": "active", "acme/owners": "pending"}, url.Values{"do": {"override"}, "to": {"building"}, "reason": {"r"}}, "act-octo-cat@github may not override"},
		{"Octo-Cat", map[string]string{"acme/devs": "active"}, url.Values{"do": {"approve"}}, "approved, now in building"},
		{"ada", map[string]string{"acme/owners": "active", "acme/devs": "active"}, url.Values{"do": {"override"}, "to": {"waiting"}, "reason": {"r"}}, "moved by override"},
		{"mallory", map[string]string{"acme/readers": "pending", "evil/owners": "active"}, nil, ""},
		{"mallory", nil, nil, ""},
	} {
		g.change(func() { g.login, g.teams = step.login, step.teams })
		e.browse()
		status, page := e.get("/signin/github?next=/inbox")
		if step.says == "" {
			if status != http.StatusForbidden || !strings.Contains(page, "is in no team that may sign in here") {
				t.Errorf("%s with %v gets %d:\n%s", step.login, step.teams, status, page)
			}
			if status, _ := e.get("/inbox"); status != http.StatusUnauthorized {
				t.Errorf("%s is signed in: %d", step.login, status)
			}
			continue
		}
		if status != http.StatusOK || !strings.Contains(page, "url=/inbox") {
			t.Fatalf("%s gets %d:\n%s", step.login, status, page)
		}
		e.until("/i/acme/widgets/1", "seq=0", "Title of acme/widgets/1")
		if _, page := e.do(http.MethodPost, "/act/acme/widgets/1", step.form); !strings.Contains(page, step.says) {
			t.Errorf("%s sends %v, want %q:\n%s", step.login, step.form, step.says, page)
		}
	}
	records, err := e.client.History(e.ctx, "acme/widgets/1", 0)
	if err != nil {
		t.Fatal(err)
	}
	var actors []string
	for _, r := range records {
		actors = append(actors, r.GetCommit().GetActor())
	}
	if got := strings.Join(actors, " "); got != "operator:bob operator:octo-cat@github operator:ada@github" {
		t.Errorf("the log names %s", got)
	}
	if text := log.String(); !strings.Contains(text, "operator:ada@github") || strings.Contains(text, userToken) || strings.Contains(text, appSecret) || strings.Contains(text, "code-") {
		t.Errorf("the console logs\n%s", text)
	}
}

func TestASignInByGitHubThatGoesWrongSignsNobodyIn(t *testing.T) {
	e, g, log := withGitHub(t)
	fresh := func(login, broken string) {
		e.browse()
		g.change(func() { g.login, g.broken, g.teams = login, broken, map[string]string{"acme/devs": "active"} })
	}
	for _, c := range []struct {
		login, broken string
		status        int
		says          string
	}{
		{"octocat", "denied", http.StatusForbidden, "GitHub has not confirmed the sign-in"},
		{"octocat", "elsewhere", http.StatusBadGateway, "it answers 302 to the question who this is"},
		{"octocat", "huge", http.StatusBadGateway, "GitHub does not answer as expected"},
		{"octocat", "teams", http.StatusBadGateway, "the organization may have to approve the app"},
		{"../../user", "", http.StatusBadGateway, "the login is none"},
		{"developer/developer-1", "", http.StatusBadGateway, "the login is none"},
		{"octocat@github", "", http.StatusBadGateway, "the login is none"},
		{"", "", http.StatusBadGateway, "the login is none"},
	} {
		fresh(c.login, c.broken)
		if status, page := e.get("/signin/github"); status != c.status || !strings.Contains(page, c.says) || strings.Contains(page, "alert(1)") {
			t.Errorf("%q, %s: it ends with %d, want %d and %q:\n%s", c.login, c.broken, status, c.status, c.says, page)
		}
		if status, _ := e.get("/inbox"); status != http.StatusUnauthorized {
			t.Errorf("%q, %s: somebody is signed in: %d", c.login, c.broken, status)
		}
	}
	fresh("octocat", "")
	for _, query := range []string{"", "?code=code-0", "?code=code-0&state=", "?code=code-0&state=guess", "?state=guess"} {
		if status, page := e.get("/signin/github/callback" + query); status != http.StatusForbidden || !strings.Contains(page, "was not begun in this browser") {
			t.Errorf("%q without a beginning ends with %d:\n%s", query, status, page)
		}
	}
	// A link to the end of the sign-in of an attacker, opened in a browser that began its own.
	stop := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	e.browser.CheckRedirect = stop
	e.get("/signin/github")
	if status, _ := e.get("/signin/github/callback?code=code-0&state=of-an-attacker-of-26-letters"); status != http.StatusForbidden {
		t.Errorf("the state of another sign-in ends with %d", status)
	}
	// Other sites are not led to.
	fresh("octocat", "")
	if status, page := e.get("/signin/github?next=//evil.example.test/"); status != http.StatusOK || strings.Contains(page, "evil.example.test") {
		t.Errorf("with a page elsewhere it ends with %d:\n%s", status, page)
	}
	if text := log.String(); strings.Contains(text, userToken) || strings.Contains(text, appSecret) {
		t.Errorf("the console logs\n%s", text)
	}
}

func TestSigningInByGitHubIsTriedOnlySoOften(t *testing.T) {
	e, g, _ := withGitHub(t)
	g.change(func() { g.login, g.teams = "octocat", nil })
	busy := false
	for range 40 {
		e.browse()
		if status, _ := e.get("/signin/github"); status == http.StatusTooManyRequests {
			busy = true
			break
		}
	}
	if !busy {
		t.Error("40 tries in a row all reach GitHub")
	}
}

func TestWrongFlagsOfGitHubAreNamed(t *testing.T) {
	server := accesstest.Start(t, access.Party{Kind: access.Orchestrator}, access.Party{Kind: access.Console}, access.Party{Kind: access.Act, Name: "ann"})
	good := app.GitHub{ClientID: "app-1", SecretFile: secretFile(t), URL: "https://github.example.test", Teams: []string{"acme/devs=act"}}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		as     access.Party
		change func(*app.GitHub)
		says   string
	}{
		"the key of a person":      {access.Party{Kind: access.Act, Name: "ann"}, func(*app.GitHub) {}, "it needs its own key"},
		"no secret":                {access.Party{Kind: access.Console}, func(g *app.GitHub) { g.SecretFile = "" }, "want all three, or none"},
		"an empty secret":          {access.Party{Kind: access.Console}, func(g *app.GitHub) { g.SecretFile = empty }, "it is empty"},
		"no team":                  {access.Party{Kind: access.Console}, func(g *app.GitHub) { g.Teams = nil }, "want all three, or none"},
		"a team without a right":   {access.Party{Kind: access.Console}, func(g *app.GitHub) { g.Teams = []string{"acme/devs"} }, "want ORG/TEAM=RIGHT"},
		"a right that is none":     {access.Party{Kind: access.Console}, func(g *app.GitHub) { g.Teams = []string{"acme/devs=orchestrator"} }, "want ORG/TEAM=RIGHT"},
		"a path for a team":        {access.Party{Kind: access.Console}, func(g *app.GitHub) { g.Teams = []string{"acme/../x=admin"} }, "want ORG/TEAM=RIGHT"},
		"GitHub without TLS":       {access.Party{Kind: access.Console}, func(g *app.GitHub) { g.URL = "http://github.example.test" }, "want https://HOST"},
		"an address with a secret": {access.Party{Kind: access.Console}, func(g *app.GitHub) { g.URL = "https://a:b@github.example.test" }, "want https://HOST"},
	} {
		settings := app.Settings{Listen: "127.0.0.1:0", GitHub: good}
		c.change(&settings.GitHub)
		err := service.Serve(t.Context(), service.Config{Service: "console", Log: slog.New(slog.DiscardHandler), Flags: service.Flags{NATS: service.NATS{URL: server.URL, NKey: server.Key(t, c.as)}},
			Setup: func(ctx context.Context, h *service.Host) error {
				_, err := settings.Setup(ctx, h, "operator:ann")
				return err
			}})
		if service.ExitCode(err) != service.ExitUsage || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: it ends with %v, want %q", name, err, c.says)
		}
	}
}
