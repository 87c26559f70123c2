// Package github reads and writes GitHub, github.com or an Enterprise Server,
// or whatever else speaks its REST.
package github

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

// Config is how GitHub is reached and as whom.
type Config struct {
	// BaseURL is the server, such as "https://github.example.com" or
	// "http://127.0.0.1:8080"; empty is github.com.
	BaseURL string
	// Token signs in. Without it and TokenFile only what is public can be read.
	Token string
	// TokenFile holds the token and is read for every request, so that a
	// renewed token is used at once.
	TokenFile string
	// UserAgent names the program; empty is "signalbox".
	UserAgent string
	// HTTPClient is what requests are sent with; its transport is the innermost
	// one. Nil is a client that gives up on a request after a minute.
	HTTPClient *http.Client
	// MaxWait is the longest pause GitHub may ask for that is made within a
	// call; what is longer is a *forge.RateLimit. Zero is ten seconds.
	MaxWait time.Duration
	// Cache is how many bytes of answers are kept, which GitHub then confirms
	// at no cost. Zero is 64 MiB.
	Cache int
}

// requestTimeout ends a request to a server that hangs.
const requestTimeout = time.Minute

// Client is GitHub as a forge.
type Client struct {
	api *github.Client
}

var (
	_ forge.Reader = (*Client)(nil)
	_ forge.Writer = (*Client)(nil)
	_ forge.Merger = (*Client)(nil)

	_ forge.Observer = (*Client)(nil)
)

// New is a client of the configured server. It sends nothing yet.
func New(config Config) (*Client, error) {
	if config.Token != "" && config.TokenFile != "" {
		return nil, fmt.Errorf("github: %w: give a token or a token file, not both", forge.ErrInvalid)
	}
	client := &http.Client{Timeout: requestTimeout}
	if config.HTTPClient != nil {
		given := *config.HTTPClient
		client = &given
	}
	host, err := config.host()
	if err != nil {
		return nil, err
	}
	client.Transport = newTransport(config, client.Transport, host)
	api := github.NewClient(client)
	if host != publicHost {
		if api, err = api.WithEnterpriseURLs(config.BaseURL, config.BaseURL); err != nil {
			return nil, fmt.Errorf("github: %w: base URL: %w", forge.ErrInvalid, err)
		}
	}
	api.UserAgent = cmp.Or(config.UserAgent, "signalbox")
	return &Client{api: api}, nil
}

const publicHost = "api.github.com"

// host is where the API is, and the only host the token is for.
func (c Config) host() (string, error) {
	if c.BaseURL == "" {
		return publicHost, nil
	}
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || base.User != nil || base.Scheme != "https" && base.Scheme != "http" {
		// The URL is not repeated: it may hold a password.
		return "", fmt.Errorf("github: %w: the base URL must be like https://github.example.com, without credentials", forge.ErrInvalid)
	}
	if base.Host == "github.com" {
		return publicHost, nil
	}
	return base.Host, nil
}

// token is what signs a request in; empty for nothing.
func (c Config) token() (string, error) {
	if c.TokenFile == "" {
		return c.Token, nil
	}
	data, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return "", fmt.Errorf("%w: token file: %w", forge.ErrDenied, err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", fmt.Errorf("%w: the token file %s is empty", forge.ErrDenied, c.TokenFile)
	}
	return token, nil
}
