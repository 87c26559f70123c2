package forgeside

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// ErrRepository means that a repository is not one of those that the service serves.
var ErrRepository = errors.New("repository is not served here")

// Installed is the word for all that the App is installed on.
const Installed = "installed"

// Repositories is the list of repositories that a service serves. Each is a name, a pattern
// of the names of one owner such as acme/web-*, or Installed; with ! before it, it is left
// out, whatever else names it. Case does not matter. An empty list has none.
type Repositories []string

// Check returns an ErrRepository that names the repository if the list does not have it.
func (r Repositories) Check(repo string) error {
	if r.names(repo) && !r.LeavesOut(repo) {
		return nil
	}
	return fmt.Errorf("%w: %q; --repo names %s", ErrRepository, repo, strings.Join(r, ", "))
}

// names reports whether a name, a pattern or Installed has the repository.
func (r Repositories) names(repo string) bool {
	return slices.ContainsFunc(r, func(one string) bool { return one == Installed || matches(one, repo) })
}

// LeavesOut reports whether the list leaves out the repository, whatever else names it.
func (r Repositories) LeavesOut(repo string) bool {
	return slices.ContainsFunc(r, func(one string) bool {
		out, found := strings.CutPrefix(one, "!")
		return found && matches(out, repo)
	})
}

func matches(pattern, repo string) bool {
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(repo))
	return ok && err == nil
}

// All reports whether the list has all that the App is installed on.
func (r Repositories) All() bool { return slices.Contains(r, Installed) }

// Exact returns the names of the list, without those that it leaves out.
func (r Repositories) Exact() (names []string) {
	for _, one := range r {
		if one != Installed && !strings.HasPrefix(one, "!") && !isPattern(one) && !r.LeavesOut(one) {
			names = append(names, one)
		}
	}
	return names
}

// Owners returns the owners, in lower case, of the patterns.
func (r Repositories) Owners() (owners []string) {
	for _, one := range r {
		if owner, _, found := strings.Cut(one, "/"); found && !strings.HasPrefix(one, "!") && isPattern(one) {
			owners = append(owners, strings.ToLower(owner))
		}
	}
	slices.Sort(owners)
	return slices.Compact(owners)
}

func isPattern(one string) bool { return strings.ContainsAny(one, "*?[") }

var (
	ownerPattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]*$`)
	namePattern  = lazyregexp.New(`^[A-Za-z0-9_.-]+$`)
)

// Validate returns an error if one of the list cannot name a repository, or if nothing is
// left of it.
func (r Repositories) Validate() error {
	left := false
	for _, one := range r {
		out := strings.HasPrefix(one, "!")
		if left = left || !out; one == Installed {
			continue
		}
		if err := validate(strings.TrimPrefix(one, "!")); err != nil {
			return fmt.Errorf("--repo %q: %w", one, err)
		}
	}
	if len(r) > 0 && !left {
		return fmt.Errorf("--repo %s: all are left out; name some, such as acme/*", strings.Join(r, ", "))
	}
	return nil
}

const want = "want OWNER/NAME, or a pattern of the names of one owner such as acme/web-*"

func validate(one string) error {
	owner, name, found := strings.Cut(one, "/")
	_, wrong := path.Match(name, "x")
	switch {
	case strings.EqualFold(one, Installed):
		return fmt.Errorf("want %s, by itself and in lower case", Installed)
	case one == "*" || found && isPattern(owner):
		return fmt.Errorf("%s; an owner is no pattern: name each, or, with an App, say %s", want, Installed)
	case strings.Contains(one, ":") || strings.Count(one, "/") > 1:
		return fmt.Errorf("%s, no address%s", want, meant(one))
	case ownerPattern.MatchString(owner) && name == "":
		return fmt.Errorf("%s; did you mean %s/*?", want, owner)
	case !found || !ownerPattern.MatchString(owner) || !namePattern.MatchString(name) && !isPattern(name) || name == "." || name == "..":
		return errors.New(want)
	case wrong != nil || isPattern(name) && !namePattern.MatchString(strings.NewReplacer("*", "x", "?", "x", "[", "", "]", "", "^", "").Replace(name)):
		return fmt.Errorf("%s: %q is no pattern; * stands for any letters, ? for one, [ab] for one of those", want, name)
	}
	return nil
}

// meant returns a hint at the name that an address probably stands for.
func meant(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	parts := strings.Split(strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git"), "/")
	if n := len(parts); n >= 2 && ownerPattern.MatchString(parts[n-2]) && namePattern.MatchString(parts[n-1]) {
		return "; did you mean " + parts[n-2] + "/" + parts[n-1] + "?"
	}
	return ""
}
