package store

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

// App is a GitHub App: an account that signs in with a key, and works on what owners of
// repositories have installed it on.
type App struct {
	ID   int64          `json:"id"`
	Slug string         `json:"slug"` // its name in addresses; its bot is Slug[bot]
	Key  *rsa.PublicKey `json:"key,omitempty"`
	// Permission is what it may do in the repositories of its installations.
	Permission    string         `json:"permission"`
	Installations []Installation `json:"installations,omitempty"`

	// Permissions is what it says that it needs, by GitHub's names; nil: what Permission
	// comes to.
	Permissions map[string]string `json:"permissions,omitempty"`
	Events      []string          `json:"events,omitempty"` // that its webhook tells of
	Hook        Hook              `json:"hook"`
	Name        string            `json:"name,omitempty"`      // for people
	Owner       string            `json:"owner,omitempty"`     // the login of whoever made it
	ClientID    string            `json:"client_id,omitempty"` // another name of it
}

// Hook is the webhook of an App.
type Hook struct {
	URL    string `json:"url"`
	Active bool   `json:"active"`
	Secret string `json:"secret"`
}

// Login returns the login of the App's bot.
func (a App) Login() string { return a.Slug + "[bot]" }

func (a App) key() int64 { return a.ID }

// Installation is the installation of an App on all repositories of an owner.
type Installation struct {
	ID        int64  `json:"id"`
	Owner     string `json:"owner"`
	Suspended bool   `json:"suspended,omitempty"`
	// Repos are the repositories, as owner/name, that it is on; nil: all of the owner.
	Repos []string `json:"repos,omitempty"`
}

// Caller is who sent a request.
type Caller struct {
	Login string // "" without credentials, and for an App that signs in with its key
	App   *App   // that signs in with its key
	// Installation is the one that the token is of. Only its owner's repositories can be reached.
	Installation *Installation
}

// maxJWT is how long the token that an App signs may be valid.
const maxJWT = 10 * time.Minute

// tokenLife is how long the token of an installation is valid.
const tokenLife = time.Hour

// installed is the token of an installation.
type installed struct {
	app          *App
	installation *Installation
	until        time.Time
}

// tokens are the tokens of installations.
type tokens struct {
	mu     sync.Mutex
	byHash map[tokenHash]installed
}

// IssueToken returns a new token of the installation and when it ends.
func (a *Access) IssueToken(app *App, installation int64, now time.Time) (token string, until time.Time, err error) {
	i := slices.IndexFunc(app.Installations, func(i Installation) bool { return i.ID == installation })
	if i < 0 {
		return "", until, fmt.Errorf("installation %d: %w", installation, ErrNoInstallation)
	}
	if app.Installations[i].Suspended {
		return "", until, ErrSuspended
	}
	token, until = "ghs_"+rand.Text()+rand.Text()[:10], now.Add(tokenLife).UTC().Truncate(time.Second)
	a.tokens.mu.Lock()
	defer a.tokens.mu.Unlock()
	if a.tokens.byHash == nil {
		a.tokens.byHash = map[tokenHash]installed{}
	}
	a.tokens.byHash[sha256.Sum256([]byte(token))] = installed{app, &app.Installations[i], until}
	return token, until, nil
}

var (
	// ErrNoInstallation means that the App has no such installation.
	ErrNoInstallation = errors.New("no such installation")
	// ErrSuspended means that the owner has suspended the installation.
	ErrSuspended = errors.New("this installation has been suspended")
)

// installation returns the caller of a token of an installation.
func (a *Access) installation(hash tokenHash, now time.Time) (Caller, bool) {
	a.tokens.mu.Lock()
	defer a.tokens.mu.Unlock()
	t, ok := a.tokens.byHash[hash]
	if ok && !now.Before(t.until) {
		delete(a.tokens.byHash, hash)
		ok = false
	}
	if !ok {
		return Caller{}, false
	}
	for _, app := range a.Apps() {
		for _, i := range app.Installations {
			if app.ID == t.app.ID && i.ID == t.installation.ID && !i.Suspended {
				return Caller{Login: app.Login(), Installation: &i}, true
			}
		}
	}
	return Caller{}, false // it was taken off, or suspended
}

// signed returns the App that signed the token.
func (a *Access) signed(token string, now time.Time) (*App, bool) {
	var claims jwt.RegisteredClaims
	var app *App
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation())
	_, err := parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) {
		id, err := strconv.ParseInt(claims.Issuer, 10, 64)
		apps := a.Apps()
		i := slices.IndexFunc(apps, func(app App) bool { return app.ID == id })
		if err != nil || i < 0 || apps[i].Key == nil {
			return nil, ErrCredentials
		}
		app = &apps[i]
		return app.Key, nil
	})
	if err != nil || claims.IssuedAt == nil || claims.ExpiresAt == nil {
		return nil, false
	}
	from, to := claims.IssuedAt.Time, claims.ExpiresAt.Time
	return app, !now.Before(from) && now.Before(to) && to.Sub(now) <= maxJWT
}

// InstalledOn returns the App's installation on the owner.
func (a App) InstalledOn(owner string) (Installation, bool) {
	for _, i := range a.Installations {
		if strings.EqualFold(i.Owner, owner) {
			return i, true
		}
	}
	return Installation{}, false
}

// Has reports whether the installation is on the repository.
func (i Installation) Has(repo string) bool {
	owner, _, _ := strings.Cut(repo, "/")
	return strings.EqualFold(owner, i.Owner) &&
		(i.Repos == nil || slices.ContainsFunc(i.Repos, func(one string) bool { return strings.EqualFold(one, repo) }))
}

// Apps returns the Apps. Nobody may change them.
func (a *Access) Apps() []App {
	a.appsMu.Lock()
	defer a.appsMu.Unlock()
	return a.apps
}

// App returns the App of the id, the zero App if there is none.
func (a *Access) App(id int64) App {
	for _, app := range a.Apps() {
		if app.ID == id {
			return app
		}
	}
	return App{}
}

// PutApp makes the App known, in place of one of its id that was put before.
func (a *Access) PutApp(app App) {
	a.appsMu.Lock()
	defer a.appsMu.Unlock()
	others := slices.DeleteFunc(slices.Clone(a.apps), func(o App) bool { return o.ID == app.ID })
	a.apps = append(others, app)
}

// Reach returns what the caller may do in the repository.
func (a *Access) Reach(c Caller, repo string) Permission {
	if c.Installation != nil && !c.Installation.Has(repo) {
		return a.Permission("", repo)
	}
	return a.Permission(c.Login, repo)
}

// addApps checks the Apps.
func (a *Access) addApps(apps []App) error {
	for i, app := range apps {
		if app.ID <= 0 || app.Key == nil || !loginPattern.MatchString(app.Slug) {
			return fmt.Errorf("App %q: want an id, a public key, and a name of letters, digits and -", app.Slug)
		}
		if _, err := parsePermission(app.Permission); err != nil {
			return fmt.Errorf("App %s: %w", app.Slug, err)
		}
		if slices.ContainsFunc(apps[:i], func(o App) bool { return o.ID == app.ID || strings.EqualFold(o.Slug, app.Slug) }) {
			return fmt.Errorf("App %s: there are two of its id or name", app.Slug)
		}
	}
	a.apps = slices.Clone(apps)
	return nil
}

// permissionOfApp returns what the bot of an App may do in the repository: nothing where
// the App is not installed.
func (a *Access) permissionOfApp(login, repo string) Permission {
	owner, _, _ := strings.Cut(repo, "/")
	for _, app := range a.Apps() {
		if i, ok := app.InstalledOn(owner); ok && i.Has(repo) && !i.Suspended && strings.EqualFold(app.Login(), login) {
			granted, _ := parsePermission(app.Permission) // addApps has checked it
			return granted
		}
	}
	return None
}

// bearer returns the token of the request: a bearer token, or the password of any user
// name.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch strings.ToLower(scheme) {
	case "bearer", "token":
	case "basic":
		_, token, _ = r.BasicAuth()
	default:
		token = ""
	}
	return strings.TrimSpace(token)
}
