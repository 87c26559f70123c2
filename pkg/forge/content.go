package forge

import "context"

// Contents reads files of a repository.
type Contents interface {
	// Newest returns the newest commit of the default branch; ErrNotFound if there is no such
	// repository, or nothing in it.
	Newest(ctx context.Context, repo string) (commit string, err error)
	// Files lists the names of the files in a directory at a commit, without links; none if
	// there is no such directory.
	Files(ctx context.Context, repo, commit, dir string) ([]string, error)
	// File reads a file at a commit.
	File(ctx context.Context, repo, commit, path string) ([]byte, error)
}
