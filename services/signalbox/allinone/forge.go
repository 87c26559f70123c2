package allinone

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/localforge"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/httpserver"
)

// Forge is the local forge, served on this machine.
type Forge struct {
	*localforge.Forge
	URL    string // of its web pages
	Person string // the login of the person at this machine
	Secret string // that person's token
	Token  string // path of the file that has it
	bot    string // the token of the services

	denied *httpserver.Refusals

	inner string // where the services of this process reach it; URL unless that has TLS
	doors []door
}

// door is an address where the forge is served.
type door struct {
	listener net.Listener
	server   *http.Server
}

// openForge opens the forge in dir and creates the repositories that do not exist. denied
// gets the requests that the forge refuses to strangers.
func (c Config) openForge(ctx context.Context, dir string, denied *httpserver.Refusals) (*Forge, error) {
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
	f, err := localforge.Open(localforge.Config{Dir: dir, Public: c.Open, Logger: c.Log, Denied: denied, Users: []localforge.User{
		{Login: "signalbox", Token: bot, Type: "Bot", Permission: "write"},
		{Login: person, Token: mine, Permission: "admin"},
	}})
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Repos)) {
		if err := create(ctx, f, name, c.Repos[name]); err != nil && !errors.Is(err, localforge.ErrExists) {
			return nil, errors.Join(err, f.Close())
		}
	}
	served := &Forge{Forge: f, Person: person, Secret: mine, Token: token, bot: bot, denied: denied}
	if err := served.open(c, filepath.Join(dir, "address")); err != nil {
		return nil, errors.Join(err, served.close())
	}
	f.SetURL(served.URL)
	return served, nil
}

// open has the forge listen. With a certificate it listens twice: at Web, and for the
// services of this process, which need not trust the certificate, on loopback without TLS.
func (f *Forge) open(c Config, file string) error {
	if c.Cert != "" || c.Key != "" {
		if c.Web == "" {
			return service.Usagef("--web-cert, --web-key: say with --web HOST:PORT where the local forge is to be served by TLS")
		}
		l, err := c.listen()
		if err != nil {
			return err
		}
		names, err := certified(c.Cert)
		if err != nil {
			return errors.Join(service.Usagef("--web-cert: %w", err), l.Close())
		}
		f.URL = "https://" + named(l.Addr().String(), c.Web, names)
		f.serveAt(c, l, names)
		c.Web = ""
	}
	listen := c.listen
	if c.Web == "" {
		listen = func() (net.Listener, error) { return again(file) }
	}
	l, err := listen()
	if err != nil {
		return err
	}
	f.inner = "http://" + l.Addr().String()
	f.URL = cmp.Or(f.URL, f.inner)
	f.serveAt(c, l, nil)
	return nil
}

func (f *Forge) serveAt(c Config, l net.Listener, names []string) {
	host, _, _ := net.SplitHostPort(c.Web)
	f.doors = append(f.doors, door{l, httpserver.New(f.Handler(), f.denied, append(names, host)...)})
}

// certified returns the names and addresses that a certificate is for.
func certified(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s is not PEM", file)
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	names := slices.DeleteFunc(slices.Clone(leaf.DNSNames), func(name string) bool { return strings.HasPrefix(name, "*") })
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	return names, nil
}

// named returns the address that others reach a listener by. It has the host that was asked
// for or, if that is each address of the machine, the first name of the certificate.
func named(addr, asked string, names []string) string {
	host, _, _ := net.SplitHostPort(asked)
	_, port, err := net.SplitHostPort(addr)
	if ip, wrong := netip.ParseAddr(host); host == "" || wrong == nil && ip.IsUnspecified() {
		host = ""
		if len(names) > 0 {
			host = names[0]
		}
	}
	if err != nil || host == "" {
		return addr
	}
	return net.JoinHostPort(host, port)
}

func create(ctx context.Context, f *localforge.Forge, name string, from Source) error {
	if from.Branch == "" {
		return f.CreateRepo(ctx, name, from.Dir)
	}
	return f.CreateRepoFrom(ctx, name, from.Dir, from.Branch)
}

// API returns the base URL of its REST API for who is on this machine: it has no TLS.
func (f *Forge) API() string { return f.inner + "/api/v3/" }

// serve serves HTTP until ctx ends.
func (d door) serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = d.server.Shutdown(context.WithoutCancel(ctx)) })
	defer stop()
	if err := d.server.Serve(d.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("local forge: %w", err)
	}
	return nil
}

func (f *Forge) close() error {
	for _, d := range f.doors {
		_ = d.server.Close()
		_ = d.listener.Close() // unless it was served
	}
	return f.Close()
}

// listen listens on Web. Without a certificate it does so beyond this machine only if
// Plain says so: tokens and code cross the network readable there.
func (c Config) listen() (net.Listener, error) {
	// The forge itself wants tokens, unless it is opened to all.
	l, err := httpserver.Listen(c.Web, httpserver.Security{Cert: c.Cert, Key: c.Key, Token: "the forge's own", Plain: c.Plain})
	switch {
	case errors.Is(err, httpserver.ErrExposed):
		return nil, service.Usagef("--web %s is not of this machine alone: give it --web-cert and --web-key, or a loopback address; "+
			"--web-plain takes the responsibility for a network that reads tokens and code", c.Web)
	case errors.Is(err, httpserver.ErrSecurity):
		return nil, service.Usagef("--web-cert, --web-key: %w", err)
	case err != nil:
		return nil, fmt.Errorf("local forge: %w", err)
	}
	return l, nil
}

// again listens on the loopback address of the last run, which it keeps in file, so that links
// to the forge stay valid. If that address is in use it takes a free port.
func again(file string) (net.Listener, error) {
	const free = "127.0.0.1:0"
	address := free
	if before, err := os.ReadFile(file); err == nil {
		if at, err := netip.ParseAddrPort(string(before)); err == nil && at.Addr().IsLoopback() {
			address = string(before)
		}
	}
	l, err := net.Listen("tcp", address)
	if err != nil && address != free {
		l, err = net.Listen("tcp", free)
	}
	if err != nil {
		return nil, fmt.Errorf("local forge: %w", err)
	}
	return l, os.WriteFile(file, []byte(l.Addr().String()), 0o600)
}

// secret returns the token in file, which others cannot read. It creates a random one if there
// is no file.
func secret(file string) (string, error) {
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
		return "", service.Usagef("%s: others may know this token, its mode is %#o; remove the file, and the next start makes a new token", file,
			info.Mode().Perm())
	}
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
