package forge

import "context"

// Merger moves a pull request towards its end. Every method is one effect.
type Merger interface {
	// MarkReady ends the draft; one that is none stays as it is.
	MarkReady(ctx context.Context, repo string, number int) error
	// UpdateBranch has the forge merge the base into the head, if the head is
	// still the commit (ErrHeadMoved). It is done later: the head moves then.
	UpdateBranch(ctx context.Context, repo string, number int, head string) error
	// Merge merges the head given, and no other, and returns the commit it is
	// merged as. Refusals are ErrHeadMoved, ErrBaseMoved and ErrNotMergeable;
	// after ErrUnavailable it may have happened: see Land.
	Merge(ctx context.Context, repo string, number int, in Merge) (sha string, err error)
}

// Merge is a merge to be made.
type Merge struct {
	Head   string // the commit that was judged
	Method string // merge, squash or rebase
	// Title and Body word the commit; empty leaves it to the forge.
	Title, Body string
}
