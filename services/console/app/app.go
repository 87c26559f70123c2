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
	LinkFile string        `name:"link-file" type:"path" placeholder:"FILE" help:"File that always has a link that signs in once: a used or old one is replaced. Only this user can read it."`
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
	h.Log.Info("console", "url", c.URL, "as", c.operator)
	if a.LinkFile == "" {
		h.Log.Warn("nobody can sign in: --link-file FILE gets the links that do")
	}
	return nil
}

// Console is a console that Setup has added to a host.
type Console struct {
	URL string // of the first page, with a slash at its end

	log      *slog.Logger
	client   *client.Client
	operator string       // in whose name it acts, as the log has it
	party    access.Party // what the orchestrator takes it for; zero: it knows no accounts
	cache    *cache
	hub      *hub
	sessions *sessions
	changes  *changes
	spent    asks[*pb.CostsReply]
	checks   asked[[]*pb.HealthCheck]
	pages    pages
	now      func() time.Time
	deciding sync.Mutex // held while histories are decided again
}

// SignInLink returns a new link that signs in once, within linkLasts.
func (c *Console) SignInLink() string { return c.sessions.link() }

// Setup adds the console to a host. It acts as operator ("operator:ann"), or, if the connection
// has a person's account, as that person.
func (s Settings) Setup(ctx context.Context, h *service.Host, operator string) (*Console, error) {
	l, err := s.listen()
	if err != nil {
		return nil, err
	}
	c := &Console{log: h.Log, now: time.Now, operator: operator}
	if p, ok := access.Connected(ctx, h.NATS); ok {
		if c.party = p; p.Person() {
			c.operator = "operator:" + p.Name
		}
		if !p.Person() && p.Kind != access.Orchestrator {
			return nil, errors.Join(service.Usagef("--nats-nkey: the console acts for a person, and this is the key of %s: signalbox auth add-person makes one", p), l.Close())
		}
	}
	c.client = client.New(h.NATS, c.operator)
	c.hub, c.changes = newHub(), newChanges()
	c.cache = newCache(c.client, c.hub, h.Log)
	c.URL = s.url(l)
	c.sessions = newSessions(c.URL, s.LinkFile, cmp.Or(s.Session, 12*time.Hour), c.now)
	if c.pages, err = readPages(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if err := c.sessions.publish(); err != nil {
		return nil, errors.Join(service.Usagef("--link-file: %w", err), l.Close())
	}
	names := s.Names
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
	return c, nil
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

// may reports whether the console's account may give a command.
func (c *Console) may(command string) bool {
	return c.party == (access.Party{}) || c.party.May(command)
}
