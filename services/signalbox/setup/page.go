package setup

import (
	"context"
	"crypto/subtle"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/github"
)

//go:embed page.html
var pageSource string

// page is the page that the browser starts from, and the one that the forge sends it back
// to.
type page struct {
	convert  func(ctx context.Context, code string) (github.Registration, error)
	save     func(github.Registration) (github.Registration, error)
	manifest github.Manifest
	target   string // that the manifest is posted to
	state    string // that the forge has to repeat
	secret   string // path of the first page: another user of this machine does not know it
	tell     func(format string, args ...any)

	mu   sync.Mutex
	made github.Registration
	err  error // that ended it
	over context.CancelFunc
}

var errOver = errors.New("no answer came from the browser")

// serve returns the App that was made while the page was served.
func (p *page) serve(ctx context.Context, l net.Listener, server *http.Server, wait time.Duration) (github.Registration, error) {
	patience, giveUp := context.WithTimeoutCause(ctx, wait, errOver)
	defer giveUp()
	serving, over := context.WithCancel(patience)
	defer over()
	p.mu.Lock()
	p.over = over
	p.mu.Unlock()
	closed := make(chan struct{})
	stop := context.AfterFunc(serving, func() {
		defer close(closed)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answering)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
	})
	err := server.Serve(l)
	if stop() {
		return github.Registration{}, fmt.Errorf("the page: %w", err)
	}
	<-closed
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.err != nil || p.made.ID != 0:
		return p.made, p.err
	case errors.Is(context.Cause(patience), errOver):
		return p.made, fmt.Errorf("%w within %s: nothing is stored; begin again, or give it longer with --wait", errOver, wait)
	}
	return p.made, fmt.Errorf("interrupted: nothing is stored; if the forge has the App %s already, delete it there before you begin again",
		p.manifest.Name)
}

// answering is how long the last page may take to reach the browser.
const answering = 5 * time.Second

// shown is the data of page.html.
type shown struct {
	Title, Text                  string
	Target, Manifest, Link, Name string
	Needs                        []github.Need
}

func (p *page) handler() http.Handler {
	source := template.Must(template.New("page").Parse(pageSource))
	show := func(w http.ResponseWriter, status int, s shown) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_ = source.Execute(w, s) // a reader that has gone needs no answer
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /"+p.secret, func(w http.ResponseWriter, _ *http.Request) {
		show(w, http.StatusOK, shown{Title: "Create a GitHub App for Signalbox", Target: p.target, Manifest: p.manifest.JSON(), Name: p.manifest.Name,
			Needs: github.Needs()})
	})
	mux.HandleFunc("GET /made", func(w http.ResponseWriter, r *http.Request) {
		status, s := p.receive(r)
		show(w, status, s)
	})
	return mux
}

// receive makes the App of the code that the forge has sent the browser with.
func (p *page) receive(r *http.Request) (int, shown) {
	code, state := r.URL.Query().Get("code"), r.URL.Query().Get("state")
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case subtle.ConstantTimeCompare([]byte(state), []byte(p.state)) != 1:
		p.tell("An answer with a wrong state is refused: it is not to what was asked here. Still waiting.")
		return http.StatusForbidden, shown{Title: "This is no answer to what was asked here",
			Text: "The state is another. Open the page that the terminal shows, and begin there."}
	case code == "":
		return http.StatusBadRequest, shown{Title: "There is no code", Text: "Open the page that the terminal shows, and begin there."}
	case p.made.ID != 0 || p.err != nil:
		return http.StatusOK, shown{Title: "This is done", Text: "See the terminal."}
	}
	app, err := p.convert(r.Context(), code)
	switch {
	case errors.Is(err, github.ErrExpired):
		p.err = fmt.Errorf("%w: nothing is stored; delete the App %s on the forge if it is there, and begin again", err, p.manifest.Name)
		p.over()
		return http.StatusGone, shown{Title: "The code does not work any more", Text: "It works once, within an hour. Begin again in the terminal."}
	case err != nil:
		p.tell("The App's key is not here yet: %v. Load the page again to retry.", err)
		return http.StatusBadGateway, shown{Title: "The forge did not give the key", Text: "Load this page again to retry: " + err.Error()}
	}
	p.over()
	if p.made, err = p.save(app); err != nil {
		p.err = fmt.Errorf("the App %s is made, but its key cannot be stored: %w; delete it on the forge and begin again, or make a new key at %s",
			app.Slug, err, app.Page)
		return http.StatusInternalServerError, shown{Title: "The key could not be stored", Text: "See the terminal."}
	}
	return http.StatusOK, shown{Title: "The App is made", Text: "Its key is stored. Next, install it on your repositories.",
		Link: app.InstallPage(), Name: app.Name}
}
