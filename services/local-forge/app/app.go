// Package app is the local forge as a service: GitHub's REST and GraphQL, git over HTTP and pages
// for people, on repositories in one directory. It connects to no NATS.
package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/httpserver"
)

// App is the local forge's flags.
type App struct {
	service.Flags
	Settings
}

// Settings configures the local forge, in addition to the common flags.
type Settings struct {
	Data        string   `name:"data" type:"path" default:"forge" placeholder:"DIR" help:"Repositories, issues and comments: everything that lasts; ${default} by default."`
	Listen      string   `name:"listen" default:"127.0.0.1:3000" placeholder:"HOST:PORT" help:"Where the forge is served; ${default} by default."`
	Names       []string `name:"listen-name" placeholder:"NAME" help:"Name that clients reach --listen by, in addition to localhost and IP addresses. May be repeated."`
	Cert        string   `name:"listen-cert" type:"existingfile" placeholder:"FILE" help:"Certificate of --listen, in PEM: it is served by TLS. It is read again for each connection."`
	Key         string   `name:"listen-key" type:"existingfile" placeholder:"FILE" help:"Key of --listen-cert."`
	Plain       bool     `name:"listen-plain" help:"Serve --listen beyond this machine without TLS, too: anyone who reads the network reads tokens and code."`
	Repo        []string `name:"repo" placeholder:"OWNER/NAME" help:"Repository to make if it does not exist: an empty one, to push to. May be repeated."`
	TokenFile   string   `name:"forge-token-file" type:"existingfile" required:"" placeholder:"FILE" help:"File of the token that the services sign in with."`
	Person      string   `name:"person" default:"ann" placeholder:"LOGIN" help:"Login of the person who administers the repositories; ${default} by default."`
	PersonToken string   `name:"person-token-file" type:"existingfile" required:"" placeholder:"FILE" help:"File of the token that the person signs in with."`
}

// bot is the login of the services.
const bot = "signalbox"

// Main is the service, for a program that serves it.
func Main() service.Main {
	return service.Main{Name: "local-forge", About: "Serves a forge that speaks GitHub's REST, for systems without GitHub.", Program: &App{}, Alone: true}
}

// Setup implements service.Program.
func (a *App) Setup(ctx context.Context, h *service.Host) error { return a.Settings.Setup(ctx, h) }

// Setup adds the forge to a host.
func (s Settings) Setup(ctx context.Context, h *service.Host) error {
	users, err := s.users()
	if err != nil {
		return err
	}
	l, err := s.listen()
	if err != nil {
		return err
	}
	denied := httpserver.NewRefusals(h.Log, h.Refused.At("forge"))
	// Without a URL an answer names the forge as its request did: clients inside and outside of a network of
	// containers reach it by different names.
	forge, err := localforge.Open(localforge.Config{Dir: s.Data, Users: users, Logger: h.Log, Denied: denied})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	for _, name := range s.Repo {
		if err := forge.CreateRepo(ctx, name, ""); err != nil && !errors.Is(err, localforge.ErrExists) {
			return errors.Join(service.Usagef("--repo: %w", err), forge.Close(), l.Close())
		}
	}
	server := httpserver.New(forge.Handler(), denied, s.Names...)
	h.Add("forge", func(ctx context.Context) error {
		stop := context.AfterFunc(ctx, func() { _ = server.Shutdown(context.WithoutCancel(ctx)) })
		defer stop()
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return errors.Join(fmt.Errorf("forge: %w", err), forge.Close())
		}
		return forge.Close()
	})
	h.Log.Info("forge", "address", l.Addr().String(), "person", s.Person)
	return nil
}

func (s Settings) users() ([]localforge.User, error) {
	services, err := token("--forge-token-file", s.TokenFile)
	if err != nil {
		return nil, err
	}
	person, err := token("--person-token-file", s.PersonToken)
	if err != nil {
		return nil, err
	}
	switch {
	case s.Person == bot:
		return nil, service.Usagef("--person %s: that is the login of the services; take another", bot)
	case person == services:
		return nil, service.Usagef("--person-token-file: it is the services' token, and its holder counts as a service: take another")
	}
	return []localforge.User{
		{Login: bot, Token: services, Type: "Bot", Permission: "write"},
		{Login: s.Person, Token: person, Permission: "admin"},
	}, nil
}

func token(flag, file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", service.Usagef("%s: %w", flag, err)
	}
	t := strings.TrimSpace(string(b))
	if t == "" {
		return "", service.Usagef("%s: %s is empty; it needs a token, such as 32 random letters", flag, file)
	}
	return t, nil
}

func (s Settings) listen() (net.Listener, error) {
	if err := service.CheckAddress("--listen", s.Listen); err != nil {
		return nil, err
	}
	l, err := httpserver.Listen(s.Listen, httpserver.Security{Cert: s.Cert, Key: s.Key, Token: "the forge's own", Plain: s.Plain})
	switch {
	case errors.Is(err, httpserver.ErrExposed):
		return nil, service.Usagef("--listen %s: %w: give it --listen-cert and --listen-key, or a loopback address; --listen-plain takes the responsibility", s.Listen, err)
	case errors.Is(err, httpserver.ErrSecurity):
		return nil, service.Usagef("--listen-cert, --listen-key: %w", err)
	case err != nil:
		return nil, service.Usagef("--listen %s: %w", s.Listen, err)
	}
	return l, nil
}
