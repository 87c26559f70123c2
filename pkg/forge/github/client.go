// Package github is a client of GitHub as a forge: of github.com, an Enterprise Server, or
// another server with its REST.
package github

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

// Config is the address and the credentials of GitHub.
type Config struct {
	// BaseURL is the server, such as "https://github.example.com" or
	// "http://127.0.0.1:8080"; "" is github.com.
	BaseURL string
	// Token is sent with every request. Without it and TokenFile only public repositories
	// can be read.
	Token string
	// TokenFile contains the token. It is read for every request, so that a renewed token is
	// used at once.
	TokenFile string
	// App signs in in place of a token.
	App App
	// UserAgent is the name of the program; "" is "signalbox".
	UserAgent string
	// HTTPClient sends the requests; its transport is the innermost one. Nil is a client
	// with a timeout of a minute.
	HTTPClient *http.Client
	// MaxWait is the longest rate limit that is waited out within a call; a longer one is a
	// *forge.RateLimit. Zero is ten seconds.
	MaxWait time.Duration
	// Pace is the pause between two writes. Zero is a second, and none for a forge on this
	// machine; below zero is none.
	Pace time.Duration
	// Cache is how many bytes of answers are kept. GitHub confirms them outside of the rate
	// limit. Zero is 64 MiB.
	Cache int

	login *login // of gh; nil: not used
}

// requestTimeout ends a request to a server that hangs.
const requestTimeout = time.Minute

// Client implements the interfaces of package forge. Its methods may be called from any
// goroutine.
type Client struct {
	api         *github.Client
	credentials credentials
	accounts    accounts
	limiter     *limiter
}

var (
	_ forge.Reader = (*Client)(nil)
	_ forge.Writer = (*Client)(nil)
	_ forge.Merger = (*Client)(nil)

	_ forge.Observer = (*Client)(nil)
)

// New returns a client of the configured server. It sends nothing yet.
func New(config Config) (*Client, error) {
	client := &http.Client{Timeout: requestTimeout}
	if config.HTTPClient != nil {
		given := *config.HTTPClient
		client = &given
	}
	host, err := config.host()
	if err != nil {
		return nil, err
	}
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	c := &Client{limiter: newLimiter(fmt.Sprintf("%s as %d", host, config.App.ID), paceFor(config.Pace, host), cmp.Or(config.MaxWait, 10*time.Second))}
	if c.credentials, err = newCredentials(config, c.limiter.around(client.Transport)); err != nil {
		return nil, err
	}
	client.Transport = newTransport(config, client.Transport, host, c)
	api := github.NewClient(client)
	if host != publicHost {
		if api, err = api.WithEnterpriseURLs(config.BaseURL, config.BaseURL); err != nil {
			return nil, fmt.Errorf("github: %w: base URL: %w", forge.ErrInvalid, err)
		}
	}
	api.UserAgent = cmp.Or(config.UserAgent, "signalbox")
	c.api = api
	return c, nil
}

const publicHost = "api.github.com"

// host returns the host of the API, the only one that gets the token.
func (c Config) host() (string, error) {
	if c.BaseURL == "" {
		return publicHost, nil
	}
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || base.User != nil || base.Scheme != "https" && base.Scheme != "http" {
		// The URL is left out: it may contain a password.
		return "", fmt.Errorf("github: %w: the base URL must be like https://github.example.com, without credentials", forge.ErrInvalid)
	}
	if base.Host == "github.com" {
		return publicHost, nil
	}
	return base.Host, nil
}

// restURL returns the URL that the paths of REST are below.
func (c Config) restURL() (string, error) {
	host, err := c.host()
	if err != nil || host == publicHost {
		return "https://" + publicHost, err
	}
	base := strings.TrimRight(c.BaseURL, "/")
	if !strings.HasSuffix(base, "/api/v3") && !strings.HasPrefix(host, "api.") && !strings.Contains(host, ".api.") {
		base += "/api/v3"
	}
	return base, nil
}
