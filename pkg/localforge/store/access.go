package store

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// User is an account that can sign in.
type User struct {
	Login string
	Token string
	Type  string // User, the default, or Bot
	// Permission is what the user may do in every repository that Permissions does not
	// name: admin, maintain, write, triage, read or none, the default.
	Permission  string
	Permissions map[string]string // by owner/name
	// Organisations are those the user is a member of.
	Organisations []string
}

// Permission is a step of a ladder. Every step includes those below it.
type Permission int

// The permissions, the least first.
const (
	None Permission = iota
	Read
	Triage
	Write
	Maintain
	Admin
)

var permissionNames = []string{"none", "read", "triage", "write", "maintain", "admin"}

func (p Permission) String() string { return permissionNames[p] }

// Coarse returns the name of the permission among the four that GitHub had first.
func (p Permission) Coarse() string {
	switch p {
	case Triage:
		return Read.String()
	case Maintain:
		return Write.String()
	}
	return p.String()
}

func parsePermission(s string) (Permission, error) {
	at := slices.Index(permissionNames, cmp.Or(s, "none"))
	if at < 0 {
		return None, fmt.Errorf("permission %q: want one of %s", s, strings.Join(permissionNames, ", "))
	}
	return Permission(at), nil
}

var (
	loginPattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}(\[bot\])?$`)
	namePattern  = lazyregexp.New(`^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,99}$`)
)

// SplitName checks the name of a repository and splits it at the slash.
func SplitName(name string) (owner, base string, err error) {
	owner, base, _ = strings.Cut(name, "/")
	reserved := slices.Contains([]string{"api", "app", "app-manifests", "apps", "installation", "organizations", "orgs", "repos", "repositories", "settings", "user", "users", "rate_limit"}, strings.ToLower(owner))
	if reserved || !loginPattern.MatchString(owner) || !namePattern.MatchString(base) ||
		base == "." || base == ".." || strings.HasSuffix(strings.ToLower(base), ".git") {
		return "", "", fmt.Errorf("repository name %q: want owner/name of letters, digits, dots, - and _", name)
	}
	return owner, base, nil
}

// ErrCredentials means that a request has credentials that no user has.
var ErrCredentials = errors.New("bad credentials")

// Access is the users and Apps and what each may do. It is immutable but for the Apps and
// the tokens of their installations.
type Access struct {
	users   []User
	appsMu  sync.Mutex
	apps    []App // replaced as a whole
	byToken map[tokenHash]User
	tokens  tokens
	Public  bool // everyone may read every repository
}

type tokenHash [sha256.Size]byte

// NewAccess checks the users and Apps. Two must not have the same token.
func NewAccess(users []User, apps []App, public bool) (*Access, error) {
	a := &Access{users: users, byToken: map[tokenHash]User{}, Public: public}
	if err := a.addApps(apps); err != nil {
		return nil, err
	}
	for _, u := range users {
		if !loginPattern.MatchString(u.Login) {
			return nil, fmt.Errorf("login %q: want letters, digits and -", u.Login)
		}
		for _, p := range append(slices.Collect(maps.Values(u.Permissions)), u.Permission) {
			if _, err := parsePermission(p); err != nil {
				return nil, fmt.Errorf("user %s: %w", u.Login, err)
			}
		}
		if u.Token == "" {
			continue // the account cannot sign in
		}
		hash := sha256.Sum256([]byte(u.Token))
		if other, ok := a.byToken[hash]; ok {
			return nil, fmt.Errorf("users %s and %s have the same token", other.Login, u.Login)
		}
		a.byToken[hash] = u
	}
	return a, nil
}

// Enrol makes the Apps of the store known, and gives every user and every App's bot an
// account. A configured App wins over one of its id.
func (a *Access) Enrol(s *Store) error {
	for _, app := range s.Load().Apps {
		if !slices.ContainsFunc(a.Apps(), func(o App) bool { return o.ID == app.ID || strings.EqualFold(o.Slug, app.Slug) }) {
			a.PutApp(app)
		}
	}
	users := slices.Clone(a.users)
	for _, app := range a.Apps() {
		users = append(users, User{Login: app.Login(), Type: "Bot"})
	}
	return s.Change(func(tx *Tx) error {
		for _, u := range users {
			row, ok := tx.State.Account(u.Login)
			kind := cmp.Or(u.Type, "User")
			if ok && row.Type == kind {
				continue
			}
			if !ok {
				row = Account{ID: tx.ID(), Login: u.Login, Created: tx.Now}
			}
			row.Type = kind
			tx.Put(Entry{Account: &row})
		}
		return nil
	})
}

// Authenticate returns who sent the request, nobody if it has no credentials,
// ErrCredentials if they are nobody's at this time.
func (a *Access) Authenticate(r *http.Request, now time.Time) (Caller, error) {
	if r.Header.Get("Authorization") == "" {
		return Caller{}, nil
	}
	token := bearer(r)
	hash := tokenHash(sha256.Sum256([]byte(token)))
	if u, ok := a.byToken[hash]; ok {
		return Caller{Login: u.Login}, nil
	}
	if c, ok := a.installation(hash, now); ok {
		return c, nil
	}
	if app, ok := a.signed(token, now); ok {
		return Caller{App: app}, nil
	}
	return Caller{}, ErrCredentials
}

// Permission returns what the login may do in the repository.
func (a *Access) Permission(login, repo string) Permission {
	granted := a.permissionOfApp(login, repo)
	for _, u := range a.users {
		if !strings.EqualFold(u.Login, login) {
			continue
		}
		name := u.Permission
		for r, p := range u.Permissions {
			if strings.EqualFold(r, repo) {
				name = p
			}
		}
		granted, _ = parsePermission(name) // NewAccess has checked it
	}
	if a.Public {
		return max(granted, Read)
	}
	return granted
}

// IsMember reports whether the user is a member of the organisation.
func (a *Access) IsMember(organisation, login string) bool {
	return slices.ContainsFunc(a.users, func(u User) bool {
		return strings.EqualFold(u.Login, login) &&
			slices.ContainsFunc(u.Organisations, func(o string) bool { return strings.EqualFold(o, organisation) })
	})
}
