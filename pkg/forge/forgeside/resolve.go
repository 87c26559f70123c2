package forgeside

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/forge"
)

// Resolved is what the forge has of a list of repositories.
type Resolved struct {
	// Listed is all that the lists have which were read, also what the list does not name:
	// one of those may have been renamed.
	Listed []forge.Listed
	// Named has those that were asked for by their name.
	Named map[string]forge.Listed
	// Missing has why a name, or the owner of a pattern as OWNER/*, has nothing.
	Missing map[string]error
	// Unknown is the names whose existence the forge did not confirm or deny, and why.
	Unknown map[string]error
	// Owners are those, in lower case, of whom Listed has all; or All has it of all owners.
	Owners []string
	All    bool
}

// Lists reports whether the repository would be listed if it were there.
func (r Resolved) Lists(repo string) bool {
	owner, _, _ := strings.Cut(strings.ToLower(repo), "/")
	return r.All || slices.Contains(r.Owners, owner)
}

// Of returns what the list has now, by name.
func (r Resolved) Of(list Repositories) (all []forge.Listed) {
	for _, one := range r.Listed {
		if list.Check(one.Name) == nil {
			all = append(all, one)
		}
	}
	for _, one := range r.Named {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b forge.Listed) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(all)
}

// ErrNeedsApp means that Installed was given, and the credentials are no App's.
var ErrNeedsApp = errors.New("--repo " + Installed + " takes a GitHub App; with a token name the owner, such as acme/*")

// Permitted returns an error if the list is wrong, or takes an App and the forge is worked on
// with a token.
func (r Repositories) Permitted(l forge.Lister) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if r.All() && !l.WorksAsApp() {
		return ErrNeedsApp
	}
	return nil
}

// Resolve asks the forge which repositories the list has. A list that cannot be read is an
// error: then nothing is known. Of a token ask says which names are asked for one by one,
// where no list has them.
func (r Repositories) Resolve(ctx context.Context, l forge.Lister, ask func(name string) bool) (Resolved, error) {
	got := Resolved{Named: map[string]forge.Listed{}, Missing: map[string]error{}, Unknown: map[string]error{}}
	owners := r.Owners()
	switch {
	case l.WorksAsApp():
		all, err := l.InstalledOn(ctx)
		if err != nil {
			return got, err
		}
		got.Listed, got.All = all, true
		for _, owner := range owners {
			if !slices.ContainsFunc(all, func(one forge.Listed) bool { return ownedBy(one.Name, owner) }) {
				got.Missing[owner+"/*"] = fmt.Errorf("%w: the App is not installed on %s", forge.ErrNotFound, owner)
			}
		}
	case r.All():
		return got, ErrNeedsApp
	default:
		for _, owner := range owners {
			some, err := l.OwnedBy(ctx, owner)
			if errors.Is(err, forge.ErrNotFound) {
				got.Missing[owner+"/*"] = err
			} else if err != nil {
				return got, err
			}
			got.Listed, got.Owners = append(got.Listed, some...), append(got.Owners, owner)
		}
	}
	for _, name := range r.Exact() {
		if slices.ContainsFunc(got.Listed, func(one forge.Listed) bool { return strings.EqualFold(one.Name, name) }) || !got.All && !ask(name) {
			continue
		}
		one, err := l.Named(ctx, name)
		switch {
		case errors.Is(err, forge.ErrNotFound):
			got.Missing[name] = err
		case err != nil:
			got.Unknown[name] = err
		default:
			got.Named[name] = one
		}
	}
	return got, ctx.Err()
}

func ownedBy(repo, owner string) bool {
	of, _, _ := strings.Cut(repo, "/")
	return strings.EqualFold(of, owner)
}
