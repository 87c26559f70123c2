package bare

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// maxBlob is how many bytes of a file are read.
const maxBlob = 1 << 20

// TreeEntry is a line of git ls-tree.
type TreeEntry struct {
	Mode, Kind, SHA, Path string
	Size                  int
}

// Tree lists paths of a commit: each entry itself, or the entries in it if the path ends
// in a slash. Paths that it does not have are left out. The empty path lists the root.
func (r Repo) Tree(ctx context.Context, commit string, paths ...string) ([]TreeEntry, error) {
	args := []string{"ls-tree", "-l", "-z", "--full-tree", commit}
	if !slices.Contains(paths, "") {
		args = append(append(args, "--"), paths...)
	}
	out, err := r.read(ctx, git.MaxOutput, args...)
	if err != nil {
		return nil, err
	}
	var entries []TreeEntry
	for record := range strings.SplitSeq(out, "\x00") {
		meta, path, ok := strings.Cut(record, "\t")
		part := strings.Fields(meta)
		if !ok || len(part) < 4 {
			continue
		}
		size, _ := strconv.Atoi(part[3]) // "-" if it is not a file
		entries = append(entries, TreeEntry{Mode: part[0], Kind: part[1], SHA: part[2], Size: size, Path: path})
	}
	return entries, nil
}

// Blob returns the bytes of a file. It fails with git.ErrTooLarge above 1 MiB.
func (r Repo) Blob(ctx context.Context, sha string) ([]byte, error) {
	return r.Output(ctx, maxBlob, "cat-file", "blob", sha)
}
