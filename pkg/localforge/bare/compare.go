package bare

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// Comparison is how a head differs from a base.
type Comparison struct {
	MergeBase     string // "" if the histories have no commit in common
	Ahead, Behind int    // commits
	Files         int
	Additions     int // lines
	Deletions     int // lines
	Conflicts     bool
}

// Compare compares two commits.
func (r Repo) Compare(ctx context.Context, base, head string) (Comparison, error) {
	key := r.name + " " + base + " " + head
	if c, ok := r.repos.comparisons.get(key); ok {
		return c, nil
	}
	c, err := r.compare(ctx, base, head)
	if err == nil {
		r.repos.comparisons.put(key, c)
	}
	return c, err
}

// MergeBase returns the commit that a difference from base to head starts from: the
// merge base, or the empty tree if there is none.
func (r Repo) MergeBase(ctx context.Context, base, head string) (string, error) {
	c, err := r.Compare(ctx, base, head)
	return cmp.Or(c.MergeBase, EmptyTree), err
}

func (r Repo) compare(ctx context.Context, base, head string) (c Comparison, err error) {
	c.MergeBase, err = r.Run(ctx, "merge-base", base, head)
	if git.ExitCode(err) == 1 {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	counts, err := r.Run(ctx, "rev-list", "--count", "--left-right", base+"..."+head)
	if err != nil {
		return c, err
	}
	left, right, _ := strings.Cut(counts, "\t")
	c.Behind, _ = strconv.Atoi(left)
	c.Ahead, _ = strconv.Atoi(right)
	if c.MergeBase == head {
		return c, nil
	}
	stat, err := r.Run(ctx, "diff", "--shortstat", c.MergeBase, head)
	if err != nil {
		return c, err
	}
	for part := range strings.SplitSeq(stat, ",") {
		n, kind, _ := strings.Cut(strings.TrimSpace(part), " ")
		count, _ := strconv.Atoi(n)
		switch {
		case strings.HasPrefix(kind, "file"):
			c.Files = count
		case strings.HasPrefix(kind, "insertion"):
			c.Additions = count
		case strings.HasPrefix(kind, "deletion"):
			c.Deletions = count
		}
	}
	if c.MergeBase != base && c.MergeBase != head { // else one contains the other
		_, c.Conflicts, err = r.mergeTree(ctx, base, head)
	}
	return c, err
}

// mergeTree merges two commits without a work tree and returns the tree.
func (r Repo) mergeTree(ctx context.Context, ours, theirs string) (tree string, conflicts bool, err error) {
	out, err := r.Run(ctx, "merge-tree", "--write-tree", "--no-messages", ours, theirs)
	tree, _, _ = strings.Cut(out, "\n")
	if git.ExitCode(err) == 1 {
		return "", true, nil
	}
	return tree, false, err
}
