package local

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// User is an account that can sign in.
type User struct {
	Login string
	Token string
	Type  string // User, the default, or Bot
	// Permission is what the user may do on every repository that Permissions
	// does not name: admin, maintain, write, triage, read or none, the default.
	Permission  string
	Permissions map[string]string // by owner/name
	// Organisations are those the user is a member of.
	Organisations []string
}

// permission is a step of the ladder on which every step includes those below.
type permission int

const (
	none permission = iota
	read
	triage
	write
	maintain
	admin
)

var permissionNames = []string{"none", "read", "triage", "write", "maintain", "admin"}

func (p permission) String() string { return permissionNames[p] }

func parsePermission(s string) (permission, error) {
	at := slices.Index(permissionNames, cmp.Or(s, "none"))
	if at < 0 {
		return none, fmt.Errorf("permission %q: want one of %s", s, strings.Join(permissionNames, ", "))
	}
	return permission(at), nil
}

// coarse is the four-step name the permission has beside its role's name.
func (p permission) coarse() string {
	switch p {
	case triage:
		return read.String()
	case maintain:
		return write.String()
	}
	return p.String()
}

type tokenHash [sha256.Size]byte

var (
	loginPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}(\[bot\])?$`)
	namePattern  = regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,99}$`)
)

// splitName checks a repository's name and takes it apart.
func splitName(name string) (owner, base string, err error) {
	owner, base, _ = strings.Cut(name, "/")
	reserved := slices.Contains([]string{"api", "repos", "user", "users", "rate_limit"}, strings.ToLower(owner))
	if reserved || !loginPattern.MatchString(owner) || !namePattern.MatchString(base) ||
		base == "." || base == ".." || strings.HasSuffix(strings.ToLower(base), ".git") {
		return "", "", fmt.Errorf("repository name %q: want owner/name of letters, digits, dots, - and _", name)
	}
	return owner, base, nil
}

// signIns checks the users and finds them by what they sign in with.
func signIns(users []User) (map[tokenHash]User, error) {
	byToken := map[tokenHash]User{}
	for _, u := range users {
		if !loginPattern.MatchString(u.Login) {
			return nil, fmt.Errorf("login %q: want letters, digits and -", u.Login)
		}
		for _, p := range append([]string{u.Permission}, valuesOf(u.Permissions)...) {
			if _, err := parsePermission(p); err != nil {
				return nil, fmt.Errorf("user %s: %w", u.Login, err)
			}
		}
		if u.Token == "" {
			continue // an account that only others act on
		}
		hash := sha256.Sum256([]byte(u.Token))
		if other, ok := byToken[hash]; ok {
			return nil, fmt.Errorf("users %s and %s have the same token", other.Login, u.Login)
		}
		byToken[hash] = u
	}
	return byToken, nil
}

func valuesOf(m map[string]string) []string {
	var values []string
	for _, v := range m {
		values = append(values, v)
	}
	return values
}

// enrol gives every configured user an account.
func (f *Forge) enrol() error {
	return f.change(func(tx *tx) error {
		for _, u := range f.config.Users {
			a, ok := tx.state.account(u.Login)
			kind := cmp.Or(u.Type, "User")
			if ok && a.Type == kind {
				continue
			}
			if !ok {
				a = account{ID: tx.id(), Login: u.Login, Created: tx.now}
			}
			a.Type = kind
			tx.put(entry{Account: &a})
		}
		return nil
	})
}

// authenticate finds who asks: nobody without credentials. The token comes as
// a bearer, or as the password of any user name.
func (f *Forge) authenticate(r *http.Request) (account, error) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return account{}, nil
	}
	scheme, token, _ := strings.Cut(header, " ")
	switch strings.ToLower(scheme) {
	case "bearer", "token":
	case "basic":
		_, token, _ = r.BasicAuth()
	default:
		token = ""
	}
	u, ok := f.signIn[sha256.Sum256([]byte(strings.TrimSpace(token)))]
	if !ok {
		return account{}, &failure{status: http.StatusUnauthorized, message: "Bad credentials"}
	}
	a, _ := f.state.Load().account(u.Login)
	return a, nil
}

// permission is what the account may do on the repository.
func (f *Forge) permission(login, repo string) permission {
	granted := none
	for _, u := range f.config.Users {
		if !strings.EqualFold(u.Login, login) {
			continue
		}
		name := u.Permission
		for r, p := range u.Permissions {
			if strings.EqualFold(r, repo) {
				name = p
			}
		}
		granted, _ = parsePermission(name) // checked when the forge was opened
	}
	if f.config.Public {
		return max(granted, read)
	}
	return granted
}
