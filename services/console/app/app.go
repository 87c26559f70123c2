// Package app is the console: pages about a running system in a browser. It keeps a summary of
// each instance in memory and follows the log with one watch, however many people look.
//
//	orchestrator ── watch ──▶ cache ──▶ pages ──▶ browsers
//	                            └──▶ hub ── "changed" ──▶ browsers, which read their page again
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/httpserver"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// DefaultListen is where the pages are served by default.
const DefaultListen = "127.0.0.1:4280"

// App is the console's flags.
type App struct {
	service.Flags
	Settings
}

// Settings configures the console, in addition to the common flags.
type Settings struct {
	Listen   string        `name:"listen" default:"127.0.0.1:4280" placeholder:"HOST:PORT" help:"Where the pages are served; ${default} by default, or a free port if that is taken."`
	Names    []string      `name:"listen-name" placeholder:"NAME" help:"Name that browsers reach --listen by, in addition to localhost and IP addresses. May be repeated."`
	Cert     string        `name:"listen-cert" type:"existingfile" placeholder:"FILE" help:"Certificate of --listen, in PEM: it is served by TLS. It is read again for each connection."`
	Key      string        `name:"listen-key" type:"existingfile" placeholder:"FILE" help:"Key of --listen-cert."`
	Plain    bool          `name:"listen-plain" help:"Serve --listen beyond this machine without TLS, too, as behind a proxy: anyone who reads the network can act as you."`
	Public   string        `name:"public-url" placeholder:"URL" help:"Address that browsers reach the console at, where that is not --listen, as behind a proxy; empty: that of --listen."`
	LinkFile string        `name:"link-file" type:"path" placeholder:"FILE" help:"File that always has a link that signs in once: a used or old one is replaced. Only this user can read it. Not for a console with an account of its own."`
	GitHub   GitHub        `embed:"" prefix:"github-"`
	Session  time.Duration `name:"session" default:"12h" help:"How long a browser stays signed in."`
}

// Main is the service, for a program that serves it.
func Main() service.Main {
	return service.Main{Name: "console", About: "Serves pages that show what is where and why, and that people answer on.", Program: &App{}}
}

// Setup implements service.Program.
func (a *App) Setup(ctx context.Context, h *service.Host) error {
	c, err := a.Settings.Setup(ctx, h, term.System().User)
	if err != nil {
		return err
	}
	h.Log.Info("console", "url", c.URL, "as", c.sessions.self.name())
	if a.LinkFile == "" && c.party.Person() {
		h.Log.Warn("nobody can sign in: --link-file FILE gets the links that do")
	}
	return nil
}

// Console is a console that Setup has added to a host.
type Console struct {
	URL string // of the first page, with a slash at its end

	log      *slog.Logger
	client   *client.Client
	party    access.Party // its account; zero: NATS has no accounts
	cache    *cache
	hub      *hub
	sessions *sessions
	gitHub   *gitHub // nil: nobody signs in by it
	changes  *changes
	spent    asks[*pb.CostsReply]
	checks   asked[[]*pb.HealthCheck]
	roles    asked[[]*pb.RoleWork]
	lives    asks[client.Output]
	pages    pages
	now      func() time.Time
	deciding sync.Mutex // held while histories are decided again
}

// SignInLink returns a new link that signs in once, within linkLasts. It is empty for a console with an account of its
// own, which acts for no person by itself.
func (c *Console) SignInLink() string {
	if c.party.Kind == access.Console {
		return ""
	}
	return c.sessions.link(c.sessions.self)
}

// Setup adds the console to a host. With an account of its own it acts as each person who signs in. Else it acts as
// operator ("operator:ann"), or, if the connection has a person's account, as that person.
func (s Settings) Setup(ctx context.Context, h *service.Host, operator string) (*Console, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	l, err := s.listen()
	if err != nil {
		return nil, err
	}
	c := &Console{log: h.Log, now: time.Now}
	self := person{operator, access.Admin}
	if p, ok := access.Connected(ctx, h.NATS); ok {
		switch c.party = p; {
		case p.Person():
			self = personOf(p)
		case p.Kind == access.Console:
			self = person{}
		case p.Kind != access.Orchestrator:
			return nil, errors.Join(service.Usagef("--nats-nkey: the console acts for people, and this is the key of %s: signalbox auth init makes console.nk, and add-person that of one person", p), l.Close())
		}
	}
	if c.party.Kind == access.Console && s.LinkFile != "" {
		return nil, errors.Join(service.Usagef("--link-file: a link in a file would be of no person: with the key of a person, signalbox console login prints theirs"), l.Close())
	}
	c.client = client.New(h.NATS, self.Actor)
	c.hub, c.changes = newHub(), newChanges()
	c.cache = newCache(c.client, c.hub, h.Log)
	c.URL = s.url(l)
	c.sessions = newSessions(c.URL, s.LinkFile, self, cmp.Or(s.Session, 12*time.Hour), c.now)
	if c.pages, err = readPages(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if err := c.sessions.publish(); err != nil {
		return nil, errors.Join(service.Usagef("--link-file: %w", err), l.Close())
	}
	if c.gitHub, err = s.GitHub.open(c.URL); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if c.gitHub != nil && c.party.Kind != access.Console {
		return nil, errors.Join(service.Usagef("--github-client-id: this console acts for one person; to name each who signs in it needs its own key, --nats-nkey console.nk of signalbox auth init"), l.Close())
	}
	if err := c.serveLogin(h); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	names := s.Names
	if u, err := url.Parse(c.URL); err == nil && s.Public != "" {
		names = append(slices.Clone(names), u.Hostname())
	}
	server := httpserver.New(c.handler(), httpserver.NewRefusals(h.Log, h.Refused.At("console")), names...)
	h.Add("console", func(ctx context.Context) error {
		defer context.AfterFunc(ctx, func() { _ = server.Close() })()
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("console: %w", err)
		}
		return nil
	})
	h.Add("console-cache", c.cache.refresh)
	h.Add("console-watch", c.cache.follow)
	if c.party.Kind == access.Console {
		h.Add("console-accounts", c.revoke)
	}
	return c, nil
}

// check returns the mistakes in flags that need nothing to be found.
func (s Settings) check() error {
	if u, err := url.Parse(s.Public); s.Public != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "") {
		return service.Usagef("--public-url %s: want http:// or https:// with a host, and no path", s.Public)
	}
	return nil
}

// listen opens the port. By default it is another one if the usual one is taken.
func (s Settings) listen() (net.Listener, error) {
	addr := cmp.Or(s.Listen, DefaultListen)
	if err := service.CheckAddress("--listen", addr); err != nil {
		return nil, err
	}
	// A session stands for the token.
	security := httpserver.Security{Cert: s.Cert, Key: s.Key, Plain: s.Plain, Token: "session"}
	l, err := httpserver.Listen(addr, security)
	if err != nil && addr == DefaultListen && !errors.Is(err, httpserver.ErrSecurity) {
		l, err = httpserver.Listen("127.0.0.1:0", security)
	}
	switch {
	case errors.Is(err, httpserver.ErrExposed):
		return nil, service.Usagef("--listen %s: %w: give it --listen-cert and --listen-key, or a loopback address; --listen-plain takes the responsibility", addr, err)
	case errors.Is(err, httpserver.ErrSecurity):
		return nil, service.Usagef("--listen-cert, --listen-key: %w", err)
	case err != nil:
		return nil, service.Usagef("--listen %s: %w", addr, err)
	}
	return l, nil
}

// url returns the address that browsers are given.
func (s Settings) url(l net.Listener) string {
	if s.Public != "" {
		return strings.TrimSuffix(s.Public, "/") + "/"
	}
	scheme := "http"
	if s.Cert != "" {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return scheme + "://" + l.Addr().String() + "/"
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	if len(s.Names) > 0 {
		host = s.Names[0]
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/"
}
