// Package setup is the command `signalbox github setup`. It makes a GitHub App from a
// manifest, with the browser of whoever runs it, and keeps its key.
package setup

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/httpserver"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Command is `signalbox github setup`.
type Command struct {
	Org    string        `name:"org" env:"-" placeholder:"ORG" help:"Organisation that the App is of; you by default."`
	URL    string        `name:"forge-url" aliases:"forge" env:"SIGNALBOX_FORGE_URL,GITHUB_API_URL" default:"https://api.github.com/" placeholder:"URL" help:"REST API or pages of the forge; ${default} by default."`
	Host   string        `name:"forge-host" env:"GH_HOST" placeholder:"HOST" help:"Host of the forge, such as github.example.com, in place of the URL."`
	Dir    string        `name:"dir" env:"SIGNALBOX_FORGE_APP_DIR" type:"path" placeholder:"DIR" help:"Where the App's key and secrets are kept; by default where up, the gateway and doctor look for them: signalbox/github in the user's configuration directory."`
	Name   string        `name:"name" env:"-" placeholder:"NAME" help:"Name of the App, which GitHub shows with all it does; it can be changed on GitHub's page."`
	Hook   string        `name:"webhook-url" env:"-" placeholder:"URL" help:"Address at which the forge reaches --webhook of up or of the gateway. Empty: no webhook yet."`
	Listen string        `name:"listen" env:"-" default:"127.0.0.1:0" placeholder:"HOST:PORT" help:"Loopback address of the page that the browser starts from; a port that is known can be forwarded by ssh."`
	Open   bool          `name:"open" env:"-" help:"Open the page in the browser."`
	Force  bool          `name:"force" env:"-" help:"Replace the App that is kept in the directory. The old one stays on the forge."`
	Wait   time.Duration `name:"wait" env:"-" default:"15m" help:"How long to wait for the browser; ${default} by default."`
}

// Run makes the App and prints what comes next.
func (c Command) Run(ctx context.Context, env *term.Env) error {
	flags := github.Flags{URL: c.URL, Host: c.Host}
	state := rand.Text()
	target, err := flags.NewAppPage(c.Org, state)
	if err != nil {
		return service.Usagef("--forge-url: %w", err)
	}
	if c.Dir = cmp.Or(c.Dir, github.DefaultDir()); c.Dir == "" {
		return service.Usagef("--dir: want a directory: there is none for your configuration")
	}
	if err := c.vacant(); err != nil {
		return err
	}
	l, err := c.listen()
	if err != nil {
		return err
	}
	secret := rand.Text()
	p := &page{convert: flags.Convert, save: func(r github.Registration) (github.Registration, error) { return r.Save(c.Dir) }, state: state,
		target: target, secret: secret, tell: func(format string, args ...any) { fmt.Fprintf(env.Stderr, format+"\n", args...) }}
	at := "http://" + l.Addr().String()
	p.manifest = github.NewManifest(c.name(), at+"/made", c.Hook)
	start := at + "/" + secret
	p.tell("Open this page in a browser of this machine, signed in to the forge, within %s:\n\n    %s\n", term.Duration(c.Wait), start)
	if c.Open {
		if err := browse(start); err != nil {
			p.tell("No browser could be opened: %v", err)
		}
	}
	made, err := p.serve(ctx, l, httpserver.New(p.handler(), httpserver.NewRefusals(env.Log, nil)), c.Wait)
	if err != nil {
		return err
	}
	return c.print(env, made)
}

// vacant returns an error if the directory has an App, or cannot be written.
func (c Command) vacant() error {
	r, err := github.LoadRegistration(c.Dir)
	switch {
	case c.Force, errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return service.Usagef("--dir: %w; --force replaces it", err)
	default:
		return service.Usagef("--dir %s has the App %s (id %d) already: use it, or name another directory, or replace it with --force", c.Dir, r.Slug, r.ID)
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return service.Usagef("--dir: %w", err)
	}
	try, err := os.CreateTemp(c.Dir, "*.new")
	if err != nil {
		return service.Usagef("--dir cannot be written: %w", err)
	}
	return errors.Join(try.Close(), os.Remove(try.Name()))
}

// listen returns the listener of the page.
func (c Command) listen() (net.Listener, error) {
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, service.Usagef("--listen: %w", err)
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		_ = l.Close()
		return nil, service.Usagef("--listen %s is reached from other machines, and the App's key goes there: want a loopback address", c.Listen)
	}
	return l, nil
}

// maxName is how many characters GitHub lets the name of an App have.
const maxName = 34

// name returns the name to propose. All of GitHub's Apps have different ones.
func (c Command) name() string {
	few := make([]byte, 2)
	_, _ = rand.Read(few) // it never fails
	name := cmp.Or(c.Name, "signalbox-"+cmp.Or(c.Org, hex.EncodeToString(few)))
	return name[:min(len(name), maxName)]
}

// browse opens the page in the browser of the desktop.
func browse(page string) error {
	with := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if with == nil {
		with = []string{"xdg-open"}
	}
	cmd := exec.Command(with[0], append(with[1:], page)...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// made is the JSON of what was made.
type made struct {
	github.Registration
	Dir     string `json:"dir"`
	Install string `json:"install_url"`
}

// print prints the App, its files and the next step.
func (c Command) print(env *term.Env, r github.Registration) error {
	if env.JSON {
		return env.Print(made{r, c.Dir, r.InstallPage()})
	}
	extra := ""
	if c.Dir != github.DefaultDir() {
		extra = " --forge-app-dir " + c.Dir
	}
	repo := cmp.Or(r.Owner, "OWNER") + "/NAME"
	row := func(name, text string) { env.Printf("%-9s %s\n", name, term.Line(text)) }
	row("App", fmt.Sprintf("%s (id %d) of %s: %s", r.Name, r.ID, r.Owner, r.Page))
	row("kept in", c.Dir+", for you alone: "+filepath.Base(r.KeyFile())+", "+filepath.Base(r.WebhookSecretFile()))
	row("install", r.InstallPage())
	row("then", "signalbox doctor --forge-url "+r.API+"/ --repo "+repo+extra)
	row("", "signalbox up --forge-url "+r.API+"/ --repo "+repo+extra+webhook(c.Hook))
	for _, variable := range []string{"SIGNALBOX_FORGE_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"} {
		if extra == "" && os.Getenv(variable) != "" {
			row("but", variable+" is set, and is used in place of the App: unset it, or give --forge-app-dir "+c.Dir)
		}
	}
	return nil
}

// webhook returns the flag that serves the webhook, if there is one.
func webhook(address string) string {
	if strings.TrimSpace(address) == "" {
		return ""
	}
	return " --webhook HOST:PORT"
}
