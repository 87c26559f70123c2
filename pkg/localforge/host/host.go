// Package host is the local forge below HTTP. It says who sends a request and what they
// may do in which repository, and makes pull requests follow their branches. REST, the
// pages and git's protocol are served from it.
package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/signalbox/signalbox/pkg/localforge/bare"
	"github.com/signalbox/signalbox/pkg/localforge/store"
	"github.com/signalbox/signalbox/pkg/service/httpserver"
)

var (
	// ErrNotFound means that there is no such thing, or that the user may not know of it.
	ErrNotFound = errors.New("not found")
	// ErrForbidden means that the user may see the thing, but not do this to it.
	ErrForbidden = errors.New("forbidden")
	// ErrArchived means that the repository is read-only.
	ErrArchived = errors.New("repository was archived so is read-only")
	// ErrSignIn means that the request needs credentials and has none.
	ErrSignIn = errors.New("sign in")
)

// Host is an open forge. Its methods may be called from any goroutine.
type Host struct {
	Store  *store.Store
	Access *store.Access
	Repos  *bare.Repos
	Log    *slog.Logger
	// Denied gets each request whose credentials do not count.
	Denied *httpserver.Refusals

	codes codes
	url   atomic.Pointer[string]
}

// SetURL sets the URL that answers name the forge by. If it is empty, an answer names
// the host of its request.
func (h *Host) SetURL(url string) {
	url = strings.TrimRight(url, "/")
	h.url.Store(&url)
}

// Links returns the URLs of the forge in an answer to the request.
func (h *Host) Links(r *http.Request) Links { return Links(cmp.Or(*h.url.Load(), "http://"+r.Host)) }

// GitLinks returns the URLs that git is to use after the request. A request without TLS to
// a forge whose URL has it came on this machine, from who need not trust a certificate:
// git goes the way of the request.
func (h *Host) GitLinks(r *http.Request) Links {
	if l := h.Links(r); r.TLS != nil || !strings.HasPrefix(string(l), "https://") {
		return l
	}
	return Links("http://" + r.Host)
}

// Links is the URL of the forge. Its methods return the URLs below it.
type Links string

// API returns the URL that REST paths are below.
func (l Links) API() string { return string(l) + "/api/v3" }

// RepoAPI returns the repository's URL in REST.
func (l Links) RepoAPI(r store.Repo) string { return l.API() + "/repos/" + r.FullName() }

// PullAPI returns the pull request's URL in REST.
func (l Links) PullAPI(r store.Repo, i store.Issue) string {
	return fmt.Sprintf("%s/pulls/%d", l.RepoAPI(r), i.Number)
}

// RepoURL returns the URL of the repository's page.
func (l Links) RepoURL(r store.Repo) string { return string(l) + "/" + r.FullName() }

// IssueURL returns the URL of the page of the issue or pull request.
func (l Links) IssueURL(r store.Repo, i store.Issue) string {
	kind := "issues"
	if i.Pull != nil {
		kind = "pull"
	}
	return fmt.Sprintf("%s/%s/%d", l.RepoURL(r), kind, i.Number)
}

// caller returns who sent the request, and their account, the zero account if they have
// none. It fails with store.ErrCredentials.
func (h *Host) caller(r *http.Request) (store.Caller, store.Account, error) {
	c, err := h.Access.Authenticate(r, h.Store.Now())
	if errors.Is(err, store.ErrCredentials) {
		h.Denied.Note(r, "the credentials are nobody's")
	}
	if err != nil || c.Login == "" {
		return c, store.Account{}, err
	}
	a, _ := h.Store.Load().Account(c.Login)
	return c, a, nil
}

// Admit implements bare.Gate.
func (h *Host) Admit(w http.ResponseWriter, r *http.Request, name string, push bool) (repo string, actor int64, ok bool) {
	refuse := func(status int, message string) (string, int64, bool) {
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="local forge"`)
		}
		http.Error(w, message, status)
		return "", 0, false
	}
	caller, user, err := h.caller(r)
	if err != nil {
		return refuse(http.StatusUnauthorized, "the token is not known")
	}
	needed := store.Read
	if push {
		needed = store.Write
	}
	found, exists := h.Store.Load().Repo(name)
	if exists {
		name = found.FullName()
	}
	level := h.Access.Reach(caller, name)
	switch {
	case user.ID == 0 && (!exists || level < needed):
		return refuse(http.StatusUnauthorized, "sign in with a token as the password")
	case !exists || level < store.Read:
		return refuse(http.StatusNotFound, "repository not found")
	case level < needed:
		return refuse(http.StatusForbidden, fmt.Sprintf("permission to %s denied to %s", name, user.Login))
	}
	if push && found.Archived {
		return refuse(http.StatusForbidden, "This repository was archived so it is read-only.")
	}
	return found.FullName(), user.ID, true
}

// Pushed implements bare.Gate. It records the time of the push and the moves, and makes
// the pull requests follow.
func (h *Host) Pushed(ctx context.Context, name string, actor int64, moves []bare.Move) error {
	err := h.Store.Change(func(t *store.Tx) error {
		t.By = actor
		r, _ := t.State.Repo(name)
		r.Repository.Pushed = t.Now
		t.Put(store.Entry{Repo: name, Repository: &r.Repository})
		for _, m := range moves {
			if r.LastMove(m.Ref) == m.After {
				continue // two pushes asked for the same move, and git made one
			}
			p := store.Push{Ref: m.Ref, Before: m.Before, After: m.After, Actor: actor}
			if m.Forced {
				p.Kind = "force_push"
			}
			t.RecordPush(name, p)
		}
		return nil
	})
	return errors.Join(err, h.Follow(ctx, name, actor))
}
