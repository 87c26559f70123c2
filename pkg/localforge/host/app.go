package host

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/localforge/store"
)

// Manifest is what an App is to be, as GitHub reads it from a form.
type Manifest struct {
	Name     string
	URL      string
	Redirect string `json:"redirect_url"`
	Hook     struct {
		URL    string
		Active *bool
	} `json:"hook_attributes"`
	Permissions map[string]string `json:"default_permissions"`
	Events      []string          `json:"default_events"`
}

// ErrManifest means that a manifest is refused. Its text is for people.
var ErrManifest = errors.New("invalid GitHub App configuration")

// levels are what a permission of a manifest may be.
var levels = []string{"read", "write", "admin"}

// ReadManifest reads the manifest of a form.
func ReadManifest(text string) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return m, fmt.Errorf("%w: the manifest is no JSON: %w", ErrManifest, err)
	}
	for field, value := range map[string]string{"url": m.URL, "redirect_url": m.Redirect, "hook_attributes.url": m.Hook.URL} {
		if u, err := url.Parse(value); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return m, fmt.Errorf("%w: %s is no address: %q", ErrManifest, field, value)
		}
	}
	for name, level := range m.Permissions {
		if !slices.Contains(levels, level) {
			return m, fmt.Errorf("%w: permission %s: %q is none of %s", ErrManifest, name, level, strings.Join(levels, ", "))
		}
	}
	return m, nil
}

// Code returns the redirect of the manifest with the code and the state.
func (m Manifest) Code(code, state string) string {
	u, err := url.Parse(m.Redirect)
	if err != nil {
		return m.Redirect // ReadManifest has parsed it
	}
	q := u.Query()
	q.Set("code", code)
	if state != "" {
		q.Set("state", state)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// codeLife is how long the code of a manifest can be converted.
const codeLife = time.Hour

// codes are the Apps that nobody has the key of yet, by their code.
type codes struct {
	mu     sync.Mutex
	byCode map[string]waiting
}

type waiting struct {
	app   int64
	until time.Time
}

func (c *codes) issue(app int64, until time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byCode == nil {
		c.byCode = map[string]waiting{}
	}
	code := strings.ToLower(rand.Text() + rand.Text()[:14])
	c.byCode[code] = waiting{app, until}
	return code
}

// take returns the App of the code, which works once.
func (c *codes) take(code string, now time.Time) (app int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.byCode[code]
	delete(c.byCode, code)
	return w.app, ok && now.Before(w.until)
}

var unsuited = lazyregexp.New(`[^a-z0-9]+`)

// slugOf returns the name as an address has it.
func slugOf(name string) string {
	slug := unsuited.ReplaceAllString(strings.ToLower(name), "-")
	return strings.Trim(slug[:min(len(slug), maxSlug)], "-")
}

const maxSlug = 34

// CreateApp makes an App that owner, an account or an organisation, has. It returns the
// code that its key is had for.
func (h *Host) CreateApp(m Manifest, owner string) (code string, err error) {
	slug := slugOf(m.Name)
	if slug == "" {
		return "", fmt.Errorf("%w: the App needs a name", ErrManifest)
	}
	app := store.App{
		Slug: slug, Name: m.Name, Owner: owner, Permission: coarse(m.Permissions), Permissions: maps.Clone(m.Permissions), Events: m.Events,
		Hook: store.Hook{URL: m.Hook.URL, Active: m.Hook.Active == nil || *m.Hook.Active}, ClientID: "Iv23" + rand.Text()[:16],
	}
	err = h.Store.Change(func(tx *store.Tx) error {
		if _, taken := tx.State.Account(app.Login()); taken {
			return fmt.Errorf("%w: the name %s is taken", ErrManifest, m.Name)
		}
		app.ID = tx.ID()
		tx.Put(store.Entry{Account: &store.Account{ID: tx.ID(), Login: app.Login(), Type: "Bot", Created: tx.Now}})
		tx.Put(store.Entry{App: &app})
		return nil
	})
	if err != nil {
		return "", err
	}
	h.Access.PutApp(app)
	return h.codes.issue(app.ID, h.Store.Now().Add(codeLife)), nil
}

// coarse returns the step of permission that the permissions come to.
func coarse(permissions map[string]string) string {
	switch {
	case permissions["administration"] == "write":
		return "admin"
	case permissions["contents"] == "write":
		return "write"
	case len(permissions) > 0:
		return "read"
	}
	return "none"
}

const keyBits = 2048

// ConvertManifest gives the App of the code its key and its webhook a secret. The private
// key, in PEM, is kept nowhere.
func (h *Host) ConvertManifest(code string) (app store.App, key string, err error) {
	id, ok := h.codes.take(code, h.Store.Now())
	if !ok {
		return app, "", ErrNotFound
	}
	private, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return app, "", err
	}
	app, err = h.changeApp(id, func(app *store.App, _ *store.Tx) {
		app.Key, app.Hook.Secret = &private.PublicKey, strings.ToLower(rand.Text())
	})
	block := pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)}
	return app, string(pem.EncodeToMemory(&block)), err
}

// Install installs the App on all repositories of the owner.
func (h *Host) Install(app int64, owner string) (store.App, error) {
	return h.changeApp(app, func(app *store.App, tx *store.Tx) {
		if _, ok := app.InstalledOn(owner); !ok {
			app.Installations = append(slices.Clone(app.Installations), store.Installation{ID: tx.ID(), Owner: owner})
		}
	})
}

// changeApp changes an App that was made on the forge's page.
func (h *Host) changeApp(id int64, change func(*store.App, *store.Tx)) (app store.App, err error) {
	err = h.Store.Change(func(tx *store.Tx) error {
		found, ok := tx.State.Apps.Get(id)
		if !ok {
			return ErrNotFound
		}
		app = found
		change(&app, tx)
		tx.Put(store.Entry{App: &app})
		return nil
	})
	if err == nil {
		h.Access.PutApp(app)
	}
	return app, err
}

// Owned returns the owners that the account may act for, sorted: itself, and those in all
// of whose repositories it administers.
func (v *Visit) Owned() []string {
	owned := map[string]bool{}
	for _, r := range v.State.Repos() {
		is, seen := owned[r.Owner]
		owned[r.Owner] = (is || !seen) && v.Forge.Access.Reach(v.Caller, r.FullName()) >= store.Admin
	}
	owned[v.User.Login] = true
	maps.DeleteFunc(owned, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(owned))
}
