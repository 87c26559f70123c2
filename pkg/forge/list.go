package forge

import "context"

// Listed is a repository as lists of the forge have it.
type Listed struct {
	ID       int64  // stays when it is renamed
	Name     string // owner/name, of this moment
	Archived bool   // nothing in it can be changed
}

// Lister lists repositories.
type Lister interface {
	// WorksAsApp reports whether the credentials are those of an App.
	WorksAsApp() bool
	// InstalledOn lists what the App is installed on, of all owners. Suspended installations
	// have nothing.
	InstalledOn(ctx context.Context) ([]Listed, error)
	// OwnedBy lists the owner's repositories that the credentials may write to. An unknown
	// owner is ErrNotFound.
	OwnedBy(ctx context.Context, owner string) ([]Listed, error)
	// Named finds a repository by its name, or by one that it had before.
	Named(ctx context.Context, repo string) (Listed, error)
}
