package github

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// Flags are the flags of a service that uses a forge.
type Flags struct {
	URL       string `name:"url" env:"SIGNALBOX_FORGE_URL,GITHUB_API_URL" default:"https://api.github.com/" placeholder:"URL" help:"REST API of the forge; ${default} by default."`
	Host      string `name:"host" env:"GH_HOST" placeholder:"HOST" help:"Host of the forge, such as github.example.com, in place of the URL."`
	TokenFile string `name:"token-file" type:"existingfile" placeholder:"FILE" help:"File that holds the token."`
	Token     string `name:"token" env:"SIGNALBOX_FORGE_TOKEN,GITHUB_TOKEN,GH_TOKEN" placeholder:"TOKEN" help:"The token itself; better given by file or environment than on the command line."`
	AppFlags
	Pace time.Duration `name:"pace" placeholder:"DURATION" help:"Pause between two writes with one token, by all processes of a deployment. By default 1s, as GitHub asks for, and none for a forge on this machine; below 0 is none."`

	client *Client // what Client returns; nil: a new one
}

// AppFlags are the flags of a GitHub App that a service works as.
type AppFlags struct {
	ID           int64  `name:"app-id" env:"SIGNALBOX_FORGE_APP_ID,GITHUB_APP_ID" placeholder:"N" help:"Work as this GitHub App, in place of a token."`
	KeyFile      string `name:"app-key-file" env:"SIGNALBOX_FORGE_APP_KEY_FILE,GITHUB_APP_PRIVATE_KEY_PATH" type:"existingfile" placeholder:"FILE" help:"File that holds the App's private key, in PEM."`
	Key          string `name:"app-key" env:"SIGNALBOX_FORGE_APP_KEY,GITHUB_APP_PRIVATE_KEY" placeholder:"PEM" help:"The key itself, its line ends written as \\n, or as base64; better given by file or environment than on the command line."`
	Installation int64  `name:"app-installation" env:"SIGNALBOX_FORGE_APP_INSTALLATION,GITHUB_APP_INSTALLATION_ID" placeholder:"N" help:"The only installation of the App to use; by default that of the owner of each repository."`
	Dir          string `name:"app-dir" env:"SIGNALBOX_FORGE_APP_DIR" type:"path" placeholder:"DIR" help:"Directory of the App of signalbox github setup. By default the one in the user's configuration directory, where neither a token nor an App is given."`
}

// given reports whether any of the flags is.
func (f AppFlags) given() bool { return f.ID != 0 || f.KeyFile != "" || f.Key != "" }

// app returns the App. A file wins over the variable of a shell.
func (f AppFlags) app() App {
	if !f.given() {
		return App{}
	}
	if f.KeyFile != "" {
		f.Key = ""
	}
	return App{ID: f.ID, Key: f.Key, KeyFile: f.KeyFile, Installation: f.Installation}
}

// Opened returns flags whose client is this one: all services of a process share it, with
// its cache and its limits.
func (f Flags) Opened(c *Client) Flags {
	f.client = c
	return f
}

// Anonymous reports whether there is no token and no App, also no login of gh.
func (f Flags) Anonymous(ctx context.Context) bool {
	f, err := f.settled()
	return err == nil && f.TokenFile == "" && f.Token == "" && !f.given() && signedIn(ctx, f.loginHost()) == nil
}

// Files returns the files with credentials that the flags name.
func (f Flags) Files() []string {
	files := []string{f.TokenFile, f.KeyFile}
	if r, ok, err := f.stored(); ok && err == nil {
		files = append(files, r.Files()...)
	}
	return slices.DeleteFunc(files, func(file string) bool { return file == "" })
}

// Secret returns the token: that of the file, else that of the variable. An App has none:
// its tokens are of the moment.
func (f Flags) Secret() (string, error) {
	f, err := f.settled()
	if err != nil {
		return "", err
	}
	if f.given() {
		return "", nil
	}
	if f.TokenFile == "" {
		return f.Token, nil
	}
	b, err := os.ReadFile(f.TokenFile)
	if err != nil {
		return "", fmt.Errorf("token of the forge: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// Client returns an adapter for the forge. Token and key files are read again when they
// change. A token file wins over an App, and an App over a token. Without any of them it
// is the App that setup has stored, else the login of gh, if there is one.
func (f Flags) Client() (*Client, error) {
	if f.client != nil {
		return f.client, nil
	}
	f, err := f.settled()
	if err != nil {
		return nil, err
	}
	config := Config{BaseURL: f.address(), Token: f.Token, TokenFile: f.TokenFile, App: f.app(), Pace: f.Pace}
	if f.TokenFile != "" || f.given() {
		config.Token = ""
	}
	if config.Token == "" && config.TokenFile == "" && config.App == (App{}) {
		config.login = signedIn(context.Background(), f.loginHost())
	}
	return New(config)
}

// Serves reports whether the REST API is of the host that git reaches: github.com is
// served by api.github.com.
func (f Flags) Serves(host string) bool {
	api, err := url.Parse(f.address())
	if err != nil {
		return false
	}
	return strings.EqualFold(api.Host, host) || strings.EqualFold(api.Host, publicHost) && strings.EqualFold(host, "github.com")
}

// address returns the URL of the forge: that of the host, if there is one.
func (f Flags) address() string {
	if f.Host == "" {
		return f.URL
	}
	return "https://" + f.Host
}

// loginHost returns the host as gh names it.
func (f Flags) loginHost() string {
	u, err := url.Parse(cmp.Or(f.address(), "https://"+publicHost))
	if err != nil || u.Host == publicHost {
		return "github.com"
	}
	return u.Host
}
