package github

import (
	"fmt"
	"net/url"
	"os"
	"strings"
)

// Flags are the flags of a service that uses a forge.
type Flags struct {
	URL       string `name:"url" env:"SIGNALBOX_FORGE_URL,GITHUB_API_URL" default:"https://api.github.com/" placeholder:"URL" help:"REST API of the forge; ${default} by default."`
	TokenFile string `name:"token-file" type:"existingfile" placeholder:"FILE" help:"File that holds the token."`
	Token     string `name:"token" env:"SIGNALBOX_FORGE_TOKEN,GITHUB_TOKEN,GH_TOKEN" placeholder:"TOKEN" help:"The token itself; better given by file or environment than on the command line."`
}

// Secret returns the token: that of the file, else that of the variable.
func (f Flags) Secret() (string, error) {
	if f.TokenFile == "" {
		return f.Token, nil
	}
	b, err := os.ReadFile(f.TokenFile)
	if err != nil {
		return "", fmt.Errorf("token of the forge: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// Client returns an adapter for the forge. It reads a token file for every
// request, so that a renewed token is used at once.
func (f Flags) Client() (*Client, error) {
	config := Config{BaseURL: f.URL, Token: f.Token, TokenFile: f.TokenFile}
	if f.TokenFile != "" {
		config.Token = ""
	}
	return New(config)
}

// Serves reports whether the REST API is of the host that git reaches: github.com is
// served by api.github.com.
func (f Flags) Serves(host string) bool {
	api, err := url.Parse(f.URL)
	if err != nil {
		return false
	}
	return strings.EqualFold(api.Host, host) || strings.EqualFold(api.Host, publicHost) && strings.EqualFold(host, "github.com")
}
