package github_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
)

func newKey(t *testing.T) (*rsa.PrivateKey, string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

// startWithApp starts a private forge with the App signalbox, which acme has installed, and
// a repository of other, which has not.
func startWithApp(t *testing.T, key *rsa.PrivateKey, change ...func(*localforge.App)) *forgetest.Forge {
	t.Helper()
	app := localforge.App{ID: 7, Slug: "signalbox", Key: &key.PublicKey, Permission: "write", Installations: []localforge.Installation{{ID: 70, Owner: "acme"}}}
	for _, c := range change {
		c(&app)
	}
	f := forgetest.Start(t, forgetest.Config{Users: []localforge.User{forgetest.User("ann", "admin")}, Forge: func(c *localforge.Config) {
		c.Public, c.Apps = false, []localforge.App{app}
	}})
	must(t, f.CreateRepo(t.Context(), "other/things", ""))
	return f
}

func TestAnAppWorksOnWhatItIsInstalledOn(t *testing.T) {
	key, text := newKey(t)
	f := startWithApp(t, key)
	c, err := github.New(github.Config{BaseURL: f.URL, App: github.App{ID: 7, Key: text}})
	must(t, err)
	ctx := t.Context()
	self, err := c.Account(ctx)
	if err != nil || self.Login != "signalbox[bot]" || !self.Bot || self.ID == 0 {
		t.Fatalf("account %+v, %v", self, err)
	}
	issue, err := f.Client("ann").CreateIssue(ctx, forgetest.Repo, forge.NewIssue{Title: "x"})
	must(t, err)
	comment, err := c.Comment(ctx, forgetest.Repo, issue.Number, "hello")
	if err != nil || comment.Author.ID != self.ID || !comment.Author.Bot {
		t.Errorf("comment %+v, %v", comment, err)
	}
	if _, err := c.Mentions(ctx, forgetest.Repo, issue.Number); err != nil {
		t.Errorf("GraphQL: %v", err)
	}
	_, err = c.Repository(ctx, "other/things")
	if !errors.Is(err, forge.ErrDenied) || !strings.Contains(err.Error(), "the App is not installed on other/things") {
		t.Errorf("a repository without the App: %v", err)
	}
}

func TestGitUsesTheTokenOfTheInstallation(t *testing.T) {
	key, text := newKey(t)
	f := startWithApp(t, key)
	c, err := github.New(github.Config{BaseURL: f.URL, App: github.App{ID: 7, Key: base64.StdEncoding.EncodeToString([]byte(text))}})
	must(t, err)
	token, err := c.Token(t.Context(), forgetest.Repo)
	must(t, err)
	g := git.New(t.TempDir()).WithToken(f.URL, token).WithIdentity("signalbox[bot]", "7+signalbox[bot]@users.noreply.github.com")
	gittest.Run(t, g, "clone", "-q", f.URL+"/"+forgetest.Repo+".git", ".")
	gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "second")
	gittest.Run(t, g, "push", "-q", "origin", "HEAD:topic")
}

func TestARenewedKeyIsUsedAtOnce(t *testing.T) {
	key, text := newKey(t)
	_, old := newKey(t)
	f := startWithApp(t, key)
	file := filepath.Join(t.TempDir(), "key.pem")
	must(t, os.WriteFile(file, []byte(old), 0o600))
	c, err := github.New(github.Config{BaseURL: f.URL, App: github.App{ID: 7, KeyFile: file}})
	must(t, err)
	if _, err := c.Repository(t.Context(), forgetest.Repo); !errors.Is(err, forge.ErrDenied) {
		t.Errorf("with an old key: %v", err)
	}
	must(t, os.WriteFile(file, []byte(strings.ReplaceAll(text, "\n", `\n`)), 0o600))
	_, err = c.Repository(t.Context(), forgetest.Repo)
	must(t, err)
	must(t, os.WriteFile(file, []byte("no key"), 0o600))
	if _, err := c.Repository(t.Context(), forgetest.Repo); !errors.Is(err, forge.ErrDenied) || !strings.Contains(err.Error(), "PEM") {
		t.Errorf("without a key: %v", err)
	}
}

func TestASuspendedInstallationIsDenied(t *testing.T) {
	key, text := newKey(t)
	f := startWithApp(t, key, func(a *localforge.App) { a.Installations[0].Suspended = true })
	c, err := github.New(github.Config{BaseURL: f.URL, App: github.App{ID: 7, Key: text}})
	must(t, err)
	if _, err := c.Repository(t.Context(), forgetest.Repo); !errors.Is(err, forge.ErrDenied) || !strings.Contains(err.Error(), "suspended") {
		t.Errorf("%v", err)
	}
}

// tokens is a server that gives tokens of an App which are valid for life.
func tokens(t *testing.T, life time.Duration, revoked func(token string) bool) (url string, given *atomic.Int64) {
	given = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/installation"):
			_, _ = w.Write([]byte(`{"id":70}`))
		case strings.HasSuffix(r.URL.Path, "/access_tokens"):
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(map[string]any{"token": "t" + string(rune('0'+given.Add(1))), "expires_at": time.Now().Add(life)})
		case revoked(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")):
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = w.Write([]byte(`{"full_name":"acme/widgets"}`))
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, given
}

func TestATokenIsKeptUntilAMinuteBeforeItsEnd(t *testing.T) {
	_, text := newKey(t)
	for life, want := range map[time.Duration]int64{time.Hour: 1, 50 * time.Second: 3} {
		url, given := tokens(t, life, func(string) bool { return false })
		c, err := github.New(github.Config{BaseURL: url, App: github.App{ID: 7, Key: text}})
		must(t, err)
		for range 3 {
			_, err := c.Repository(t.Context(), forgetest.Repo)
			must(t, err)
		}
		if given.Load() != want {
			t.Errorf("%d tokens of %s for 3 requests, want %d", given.Load(), life, want)
		}
	}
}

func TestARevokedTokenIsReplacedWithinTheRequest(t *testing.T) {
	_, text := newKey(t)
	url, given := tokens(t, time.Hour, func(token string) bool { return token == "t1" })
	c, err := github.New(github.Config{BaseURL: url, App: github.App{ID: 7, Key: text}})
	must(t, err)
	if _, err := c.Repository(t.Context(), forgetest.Repo); err != nil || given.Load() != 2 {
		t.Errorf("%d tokens, %v", given.Load(), err)
	}
}

func TestTheAccountIsReadOnceAndAgainAfterARefusal(t *testing.T) {
	f := forgetest.Start(t, forgetest.Config{Users: []localforge.User{forgetest.User("ann", "admin")}})
	var asked atomic.Int64
	f.Fail(func(r *http.Request) *localforge.Fault {
		if strings.HasSuffix(r.URL.Path, "/user") {
			asked.Add(1)
		}
		return nil
	})
	c := f.Client("ann")
	for range 3 {
		if self, err := c.Self(t.Context()); err != nil || self != "ann" {
			t.Fatal(self, err)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("asked %d times whose the token is", asked.Load())
	}
	f.FailRequests("GET", "/repos/", localforge.Fault{Status: http.StatusUnauthorized})
	if _, err := c.Repository(t.Context(), forgetest.Repo); !errors.Is(err, forge.ErrDenied) {
		t.Fatal(err)
	}
	f.FailRequests("", "/", localforge.Fault{Status: http.StatusUnauthorized})
	if _, err := c.Self(t.Context()); !errors.Is(err, forge.ErrDenied) {
		t.Errorf("after the token was refused: %v", err)
	}
}

// A careless configuration is refused before anything is sent.
func TestAnAppNeedsItsIdAndOneKey(t *testing.T) {
	_, text := newKey(t)
	for what, c := range map[string]github.Config{
		"no id":       {App: github.App{Key: text}},
		"no key":      {App: github.App{ID: 7}},
		"two keys":    {App: github.App{ID: 7, Key: text, KeyFile: "x"}},
		"and a token": {App: github.App{ID: 7, Key: text}, Token: "x"},
	} {
		if _, err := github.New(c); !errors.Is(err, forge.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The program gh has the last word, if it is there and a person is signed in.
func TestTheLoginOfGhIsTheLastResort(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "gh"), []byte("#!/bin/sh\n[ \"$*\" = 'auth token --hostname forge.example' ] && echo ghx\n"), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if (github.Flags{Host: "forge.example"}).Anonymous(context.Background()) {
		t.Error("the login of gh is not found")
	}
	if !(github.Flags{Host: "other.example"}).Anonymous(context.Background()) {
		t.Error("a login of another host is used")
	}
	c, err := github.Flags{Host: "forge.example"}.Client()
	must(t, err)
	if token, err := c.Token(t.Context(), "acme/widgets"); err != nil || token != "ghx" {
		t.Error(token, err)
	}
}

func TestABotsAddressIsThatOfItsForge(t *testing.T) {
	for base, want := range map[string]string{
		"":                           "7+box[bot]@users.noreply.github.com",
		"https://github.example.com": "7+box[bot]@users.noreply.github.example.com",
	} {
		c, err := github.New(github.Config{BaseURL: base})
		must(t, err)
		if got := c.NoReply(forge.User{ID: 7, Login: "box[bot]"}); got != want {
			t.Errorf("at %q it is %s, want %s", base, got, want)
		}
	}
}
