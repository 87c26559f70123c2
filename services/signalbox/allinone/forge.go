package allinone

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/forge/local"
	"github.com/signalbox/signalbox/pkg/httpserver"
	"github.com/signalbox/signalbox/pkg/service"
)

// Forge is the local forge, served on this machine.
type Forge struct {
	*local.Forge
	URL    string // of its web pages
	Person string // the login of the person at this machine
	Secret string // that person's token
	Token  string // path of the file that has it
	bot    string // the token of the services

	listener net.Listener
	server   *http.Server
}

// openForge opens the forge in dir and creates the repositories that do not exist.
func (c Config) openForge(ctx context.Context, dir string) (*Forge, error) {
	token := filepath.Join(dir, "person.token")
	bot, err := secret(filepath.Join(dir, "bot.token"))
	if err != nil {
		return nil, err
	}
	mine, err := secret(token)
	if err != nil {
		return nil, err
	}
	person := cmp.Or(c.Login, systemLogin())
	f, err := local.Open(local.Config{Dir: dir, Public: c.Open, Logger: c.Log, Users: []local.User{
		{Login: "signalbox", Token: bot, Type: "Bot", Permission: "write"},
		{Login: person, Token: mine, Permission: "admin"},
	}})
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Repos)) {
		if err := create(ctx, f, name, c.Repos[name]); err != nil && !errors.Is(err, local.ErrExists) {
			return nil, errors.Join(err, f.Close())
		}
	}
	l, err := listen(c.Web, filepath.Join(dir, "address"), c.Plain)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("local forge: %w", err), f.Close())
	}
	url := "http://" + l.Addr().String()
	f.SetURL(url)
	host, _, _ := net.SplitHostPort(c.Web)
	server := httpserver.New(f.Handler(), c.Log)
	server.Handler = httpserver.GuardBut(local.Forms(), f.Handler(), host)
	return &Forge{Forge: f, URL: url, Person: person, Secret: mine, Token: token, bot: bot, listener: l, server: server}, nil
}

func create(ctx context.Context, f *local.Forge, name string, from Source) error {
	if from.Branch == "" {
		return f.CreateRepo(ctx, name, from.Dir)
	}
	return f.CreateRepoFrom(ctx, name, from.Dir, from.Branch)
}

// API returns the base URL of its REST API.
func (f *Forge) API() string { return f.URL + "/api/v3/" }

// serve serves HTTP until ctx ends.
func (f *Forge) serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = f.server.Shutdown(context.WithoutCancel(ctx)) })
	defer stop()
	if err := f.server.Serve(f.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("local forge: %w", err)
	}
	return nil
}

func (f *Forge) close() error {
	_ = f.server.Close()
	return f.Close()
}

// listen listens on web. If web is empty it listens on the address of the last run,
// which it keeps in file, so that links to the forge stay valid. If that address is
// in use it takes a free port. Beyond this machine it listens only if plain says so:
// tokens and code cross the network readable there.
func listen(web, file string, plain bool) (net.Listener, error) {
	if web != "" {
		l, err := net.Listen("tcp", web)
		if err != nil {
			return nil, err
		}
		if tcp, ok := l.Addr().(*net.TCPAddr); !plain && (!ok || !tcp.IP.IsLoopback()) {
			_ = l.Close()
			return nil, service.Usagef("--web %s is not of this machine alone: the local forge has no TLS. Use a loopback address, or say --web-plain", web)
		}
		return l, nil
	}
	before, _ := os.ReadFile(file)
	l, err := net.Listen("tcp", cmp.Or(string(before), "127.0.0.1:0"))
	if err != nil && len(before) > 0 {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, err
	}
	return l, os.WriteFile(file, []byte(l.Addr().String()), 0o600)
}

// secret returns the token in file. It creates a random one if there is no file.
func secret(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err == nil && len(b) > 0 {
		return strings.TrimSpace(string(b)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	token := rand.Text()
	return token, os.WriteFile(file, []byte(token+"\n"), 0o600)
}

// systemLogin returns a forge login for the person at this machine: their system account's
// name, or "you".
func systemLogin() string {
	u, err := user.Current()
	if err != nil || u.Username == "" {
		return "you"
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, strings.ToLower(u.Username))
	if name = strings.Trim(name, "-"); name == "" || name == "signalbox" {
		return "you"
	}
	return name
}
