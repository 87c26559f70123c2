package github

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/bradleyfalzon/ghinstallation/v2"

	"github.com/signalbox/signalbox/pkg/forge"
)

// App is a GitHub App. It works on what the owners of repositories have installed it on,
// with a token for each owner that ends after an hour.
type App struct {
	ID int64
	// Key is the private key in PEM; its line ends may be written as \n, or all of it as base64.
	Key string
	// KeyFile contains the key, in place of Key. It is read for every request, so that a
	// renewed key is used at once.
	KeyFile string
	// Installation is the only one to use. Zero: that of the owner of each repository.
	Installation int64
}

// key returns the private key in PEM.
func (a App) key() ([]byte, error) {
	text := a.Key
	if a.KeyFile != "" {
		data, err := os.ReadFile(a.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("%w: key of the App: %w", forge.ErrDenied, err)
		}
		text = string(data)
	}
	text = strings.TrimSpace(strings.ReplaceAll(text, `\n`, "\n"))
	if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
		return plain, nil
	}
	return []byte(text), nil
}

// errNotInstalled means that nobody has installed the App on what a request is about.
var errNotInstalled = errors.New("the App is not installed")

// installations are the credentials of an App.
type installations struct {
	app  App
	url  string // of REST, without a slash at its end
	base http.RoundTripper

	mu sync.Mutex
	signing
}

// signing is what requests are signed with. It has no lock: installations has.
type signing struct {
	key     []byte // the one that signer signs with
	signer  *ghinstallation.AppsTransport
	byOwner map[string]*ghinstallation.Transport // lower case; "" for any
}

func newInstallations(c Config, base http.RoundTripper) (*installations, error) {
	a := c.App
	switch {
	case a.ID <= 0:
		return nil, fmt.Errorf("github: %w: an App's key needs the App's id", forge.ErrInvalid)
	case (a.Key == "") == (a.KeyFile == ""):
		return nil, fmt.Errorf("github: %w: an App needs its private key, or a file with it", forge.ErrInvalid)
	}
	url, err := c.restURL()
	if err != nil {
		return nil, err
	}
	i := &installations{app: a, url: url, base: base}
	return i, i.renew(a, url, base)
}

// renew makes the signer if the key of the App is another one.
func (s *signing) renew(a App, url string, base http.RoundTripper) error {
	key, err := a.key()
	if err != nil || s.signer != nil && bytes.Equal(key, s.key) {
		return err
	}
	signer, err := ghinstallation.NewAppsTransport(base, a.ID, key)
	if err != nil {
		return fmt.Errorf("%w: key of the App: want the private key in PEM that GitHub has made", forge.ErrDenied)
	}
	signer.BaseURL = url
	*s = signing{key, signer, map[string]*ghinstallation.Transport{}}
	return nil
}

// of implements credentials.
func (i *installations) of(ctx context.Context, owner, repo string) (credential, error) {
	t, err := i.installation(ctx, owner, repo)
	if err != nil {
		return credential{}, err
	}
	token, err := t.Token(ctx)
	if err != nil {
		return credential{}, i.explain(ctx, t.InstallationID(), err)
	}
	return credential{token, "installation " + strconv.FormatInt(t.InstallationID(), 10)}, nil
}

// explain returns the error of a token that was not given, and forgets the installation if
// it is gone.
func (i *installations) explain(ctx context.Context, id int64, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if limit := new(forge.RateLimit); errors.As(err, &limit) {
		return limit
	}
	failed := new(ghinstallation.HTTPError)
	if !errors.As(err, &failed) || failed.Response == nil {
		return fmt.Errorf("%w: token of the App's installation: %w", forge.ErrUnavailable, err)
	}
	defer failed.Response.Body.Close()
	if failed.Response.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("%w: token of the App's installation: %s", forge.ErrUnavailable, failed.Response.Status)
	}
	i.forget(id)
	return fmt.Errorf("%w: token of the App's installation %d: %s %s", forge.ErrDenied, id, failed.Response.Status, said(failed.Response))
}

// refused implements credentials.
func (i *installations) refused(c credential) {
	if id, err := strconv.ParseInt(strings.TrimPrefix(c.holder, "installation "), 10, 64); err == nil {
		i.forget(id)
	}
}

// forget makes the next request ask which installation there is, and for a token.
func (i *installations) forget(id int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for owner, t := range i.byOwner {
		if t.InstallationID() == id {
			delete(i.byOwner, owner)
		}
	}
}

// installation returns that of the owner of the repository, any one without an owner.
func (i *installations) installation(ctx context.Context, owner, repo string) (*ghinstallation.Transport, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.renew(i.app, i.url, i.base); err != nil {
		return nil, err
	}
	if i.app.Installation != 0 {
		owner = ""
	}
	owner = strings.ToLower(owner)
	if t, ok := i.byOwner[owner]; ok {
		return t, nil
	}
	if owner == "" {
		for _, t := range i.byOwner {
			return t, nil
		}
	}
	id, err := i.find(ctx, owner, repo)
	if err != nil {
		return nil, err
	}
	for _, t := range i.byOwner {
		if t.InstallationID() == id {
			i.byOwner[owner] = t
			return t, nil
		}
	}
	t := ghinstallation.NewFromAppsTransport(i.signer, id)
	i.byOwner[owner] = t
	return t, nil
}

// find asks for the number of the installation.
func (i *installations) find(ctx context.Context, owner, repo string) (int64, error) {
	type row struct {
		ID        int64
		Suspended string `json:"suspended_at"`
	}
	switch {
	case i.app.Installation != 0:
		return i.app.Installation, nil
	case owner == "":
		var rows []row
		if err := i.get(ctx, "/app/installations?per_page=1", &rows); err != nil {
			return 0, err
		}
		if len(rows) == 0 {
			return 0, fmt.Errorf("%w: nobody has installed the App", forge.ErrDenied)
		}
		return rows[0].ID, nil
	}
	path := "/orgs/" + url.PathEscape(owner)
	if repo != "" {
		path = "/repos/" + repo
	}
	var found row
	err := i.get(ctx, path+"/installation", &found)
	if errors.Is(err, forge.ErrNotFound) {
		return 0, fmt.Errorf("%w: %w on %s; its owner installs it", forge.ErrDenied, errNotInstalled, cmp.Or(repo, owner))
	}
	if err == nil && found.Suspended != "" {
		return 0, fmt.Errorf("%w: the App's installation on %s is suspended", forge.ErrDenied, owner)
	}
	return found.ID, err
}

// get reads something as the App itself.
func (i *installations) get(ctx context.Context, path string, into any) error {
	_, err := i.ask(ctx, http.MethodGet, path, into)
	return err
}

// ask requests something as the App itself. It returns the header of the answer.
func (i *installations) ask(ctx context.Context, method, path string, into any) (http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, method, i.url+path, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", forge.ErrInvalid, err)
	}
	r.Header.Set("Accept", "application/vnd.github+json")
	client := http.Client{Transport: i.signer, Timeout: requestTimeout}
	resp, err := client.Do(r)
	if limit := new(forge.RateLimit); errors.As(err, &limit) {
		return nil, limit
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", forge.ErrUnavailable, err)
	}
	defer resp.Body.Close()
	sentinel := forge.ErrDenied
	switch status := resp.StatusCode; {
	case status == http.StatusOK, status == http.StatusAccepted:
		return resp.Header, json.NewDecoder(resp.Body).Decode(into)
	case status >= http.StatusInternalServerError:
		sentinel = forge.ErrUnavailable
	case status == http.StatusNotFound:
		sentinel = forge.ErrNotFound
	case status == http.StatusUnprocessableEntity, status == http.StatusBadRequest:
		sentinel = forge.ErrInvalid
	}
	return nil, fmt.Errorf("%w: as the App: %s %s", sentinel, resp.Status, said(resp))
}

// slug returns the name of the App in addresses and in the login of its bot.
func (i *installations) slug(ctx context.Context) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.renew(i.app, i.url, i.base); err != nil {
		return "", err
	}
	var app struct{ Slug string }
	err := i.get(ctx, "/app", &app)
	return app.Slug, err
}

// said returns the message of a refusal.
func said(resp *http.Response) string {
	var body struct{ Message string }
	_ = json.NewDecoder(io.LimitReader(resp.Body, maxRefusal)).Decode(&body) // there may be none
	return body.Message
}
