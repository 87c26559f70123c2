// Package forgetest runs a local forge with one repository for a test.
package forgetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
)

// Repo is the repository, and Trunk its default branch.
const (
	Repo  = "acme/widgets"
	Trunk = "trunk"
)

// Config is what a forge is started with.
type Config struct {
	Users []localforge.User
	File  string // of the first commit; "" for none
	Text  string // of the file
	// Forge may change the forge's own settings.
	Forge func(*localforge.Config)
}

// User returns a user with the permission whose token is Token(login).
func User(login, permission string) localforge.User {
	return localforge.User{Login: login, Token: Token(login), Permission: permission}
}

// Bot returns the bot that the services act as.
func Bot() localforge.User {
	return localforge.User{Login: "signalbox", Token: Token("signalbox"), Type: "Bot", Permission: "write"}
}

// Token returns the token of a user.
func Token(login string) string { return login + "-token" }

// Forge is a local forge that serves until the test ends.
type Forge struct {
	*localforge.Forge
	URL string // of the forge

	t     testing.TB
	fault atomic.Pointer[func(*http.Request) *localforge.Fault]
}

// Start starts a public forge with the repository.
func Start(t testing.TB, c Config) *Forge {
	t.Helper()
	f := &Forge{t: t}
	config := localforge.Config{Dir: t.TempDir(), Public: true, Users: c.Users, Fault: func(r *http.Request) *localforge.Fault {
		if fault := f.fault.Load(); fault != nil {
			return (*fault)(r)
		}
		return nil
	}}
	if c.Forge != nil {
		c.Forge(&config)
	}
	var err error
	if f.Forge, err = localforge.Open(config); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(f.Handler())
	t.Cleanup(func() { server.Close(); _ = f.Close() })
	f.SetURL(server.URL)
	f.URL = server.URL
	g := gittest.RepoOn(t, Trunk)
	if c.File != "" {
		WriteFile(t, g.Dir(), c.File, c.Text)
		gittest.Run(t, g, "add", "-A")
	}
	gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "first")
	if err := f.CreateRepo(t.Context(), Repo, g.Dir()); err != nil {
		t.Fatal(err)
	}
	return f
}

// Client returns a client of the forge with the user's token.
func (f *Forge) Client(login string) *github.Client {
	f.t.Helper()
	c, err := github.New(github.Config{BaseURL: f.URL, Token: Token(login)})
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

// Fail makes the requests fail that fault returns a fault for. It replaces the one
// before.
func (f *Forge) Fail(fault func(*http.Request) *localforge.Fault) { f.fault.Store(&fault) }

// FailRequests makes the requests fail that have the method, "" for any, and a path that
// contains the text.
func (f *Forge) FailRequests(method, path string, fault localforge.Fault) {
	f.Fail(func(r *http.Request) *localforge.Fault {
		if (method == "" || r.Method == method) && strings.Contains(r.URL.Path, path) {
			return &fault
		}
		return nil
	})
}

// Recover ends all faults.
func (f *Forge) Recover() { f.fault.Store(nil) }

// Objects is an object store in memory, for one goroutine.
type Objects map[string][]byte

// Put implements workspace.Objects.
func (o Objects) Put(_ context.Context, name string, r io.Reader) (err error) {
	o[name], err = io.ReadAll(r)
	return err
}

// Get implements workspace.Objects.
func (o Objects) Get(_ context.Context, name string) (io.ReadCloser, error) {
	if b, ok := o[name]; ok {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	return nil, fmt.Errorf("%w: no object %s", brain.ErrInfrastructure, name)
}

// Workspace returns copies of repositories as another machine has them: it shares only
// the objects.
func Workspace(t testing.TB, objects workspace.Objects) *workspace.Cache {
	t.Helper()
	c, err := workspace.New(workspace.Config{Dir: t.TempDir(), Objects: objects})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// WriteFile writes a file of a work tree.
func WriteFile(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
