package github

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/forge"
)

// credential is a token, and the name of whom it stands for. Answers are cached by that
// name: it outlives the token.
type credential struct{ token, holder string }

// credentials returns what a request about something of the owner is sent with. An empty
// owner is any. The token is "" for none.
type credentials interface {
	of(ctx context.Context, owner, repo string) (credential, error)
	// refused is called with a credential that the forge does not know any more.
	refused(c credential)
}

// holderOf returns the name of whoever a token stands for.
func holderOf(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }

// fixed is one token for everything.
type fixed string

func (f fixed) of(context.Context, string, string) (credential, error) {
	return credential{string(f), holderOf(string(f))}, nil
}

func (fixed) refused(credential) {}

// tokenFile is the path of a file with a token. It is read for every request, so that a
// renewed token is used at once.
type tokenFile string

func (f tokenFile) of(context.Context, string, string) (credential, error) {
	data, err := os.ReadFile(string(f))
	if err != nil {
		return credential{}, fmt.Errorf("%w: token file: %w", forge.ErrDenied, err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return credential{}, fmt.Errorf("%w: the token file %s is empty", forge.ErrDenied, string(f))
	}
	return credential{token, holderOf(token)}, nil
}

func (tokenFile) refused(credential) {}

// login is the token of the program gh, for the person who signed in with it at this
// machine. It is asked again after the forge refused the token.
type login struct {
	host string

	mu    sync.Mutex
	token string
}

// signedIn returns the token of gh for the host, nil if gh is not there or nobody is
// signed in.
func signedIn(ctx context.Context, host string) *login {
	l := &login{host: host}
	if c, err := l.of(ctx, "", ""); err != nil || c.token == "" {
		return nil
	}
	return l
}

func (l *login) of(ctx context.Context, _, _ string) (credential, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.token == "" {
		out, err := exec.CommandContext(ctx, "gh", "auth", "token", "--hostname", l.host).Output()
		if err != nil {
			return credential{}, fmt.Errorf("%w: gh auth token: %w", forge.ErrDenied, err)
		}
		l.token = string(bytes.TrimSpace(out))
	}
	return credential{l.token, holderOf(l.token)}, nil
}

func (l *login) refused(c credential) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.token == c.token {
		l.token = ""
	}
}

// newCredentials returns the credentials of the configuration.
func newCredentials(c Config, base http.RoundTripper) (credentials, error) {
	given := 0
	for _, is := range []bool{c.Token != "", c.TokenFile != "", c.App != App{}} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return nil, fmt.Errorf("github: %w: give a token, a token file or an App, only one of them", forge.ErrInvalid)
	case c.App != App{}:
		return newInstallations(c, base)
	case c.TokenFile != "":
		return tokenFile(c.TokenFile), nil
	case c.login != nil:
		return c.login, nil
	}
	return fixed(c.Token), nil
}

// repoKey is the key of the repository, or of the owner, that a request without one in its
// path is about.
type repoKey struct{}

// about returns ctx for requests about the repository, or about all of an owner.
func about(ctx context.Context, repo string) context.Context {
	return context.WithValue(ctx, repoKey{}, repo)
}

var owned = lazyregexp.New(`^(?:/api/v3)?/(repos|orgs)/([^/]+)(?:/([^/]+))?`)

// subject returns which owner and repository a request is about. They are those of its
// path, else that of the request it was redirected from, else that of its context.
func subject(r *http.Request) (owner, repo string) {
	for at := r; ; at = at.Response.Request {
		if found := owned.FindStringSubmatch(at.URL.Path); found != nil {
			if found[1] == "repos" {
				return found[2], found[2] + "/" + found[3]
			}
			return found[2], ""
		}
		if at.Response == nil || at.Response.Request == nil {
			break
		}
	}
	repo, _ = r.Context().Value(repoKey{}).(string)
	owner, _, found := strings.Cut(repo, "/")
	if !found {
		repo = ""
	}
	return owner, repo
}

// Token returns the token that git uses for the repository, "" for none. It serves one
// step: the token of an App's installation ends within the hour.
func (c *Client) Token(ctx context.Context, repo string) (string, error) {
	owner, _, err := split(repo)
	if err != nil {
		return "", err
	}
	got, err := c.credentials.of(ctx, owner, repo)
	if err != nil {
		return "", explain(ctx, "token for "+repo, err)
	}
	return got.token, nil
}
