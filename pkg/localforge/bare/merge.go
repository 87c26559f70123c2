package bare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

var (
	// ErrConflict means that two commits cannot be merged by themselves.
	ErrConflict = errors.New("merge conflict")
	// ErrMergeCommit means that commits cannot be rebased: one of them is a merge.
	ErrMergeCommit = errors.New("a merge commit cannot be rebased")
)

// At returns the repository with the time as the date of the commits it makes.
func (r Repo) At(t time.Time) Repo {
	date := fmt.Sprintf("%d +0000", t.Unix())
	r.Runner = r.WithEnv("GIT_COMMITTER_DATE="+date, "GIT_AUTHOR_DATE="+date)
	return r
}

// Merge merges theirs into ours, without a work tree, and returns the commit. No ref
// moves. It fails with ErrConflict.
func (r Repo) Merge(ctx context.Context, ours, theirs string, author Signature, message string, parents ...string) (string, error) {
	tree, conflicts, err := r.mergeTree(ctx, ours, theirs)
	if err != nil {
		return "", err
	}
	if conflicts {
		return "", ErrConflict
	}
	return r.commit(ctx, author, message, tree, parents...)
}

// Rebase puts the commits of head that base does not have on base, one by one, and
// returns the last. No ref moves. It fails with ErrConflict or ErrMergeCommit.
func (r Repo) Rebase(ctx context.Context, base, head string) (string, error) {
	commits, err := r.Commits(ctx, "--reverse", head, "^"+base)
	if err != nil {
		return "", err
	}
	tip := base
	for _, one := range commits {
		if len(one.Parents) != 1 {
			return "", ErrMergeCommit
		}
		// merge-tree finds the merge base by itself. A commit of the tip's tree with the
		// parent of this one makes that parent the merge base.
		tree, err := r.Run(ctx, "rev-parse", tip+"^{tree}")
		if err != nil {
			return "", err
		}
		onto, err := r.commit(ctx, one.Author, "onto", tree, one.Parents[0])
		if err != nil {
			return "", err
		}
		if tip, err = r.Merge(ctx, onto, one.SHA, one.Author, one.Message, tip); err != nil {
			return "", err
		}
	}
	return tip, nil
}

var controls = lazyregexp.New(`[\x00-\x08\x0b-\x1f]`)

// commit makes a commit of a tree. An author without a date gets that of At.
func (r Repo) commit(ctx context.Context, author Signature, message, tree string, parents ...string) (string, error) {
	g := r.WithEnv("GIT_AUTHOR_NAME="+author.Name, "GIT_AUTHOR_EMAIL="+author.Email)
	if author.Date != "" {
		g = g.WithEnv("GIT_AUTHOR_DATE=" + author.Date)
	}
	args := []string{"commit-tree", tree, "-F", "-"}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	var sha bytes.Buffer
	message = strings.TrimSpace(controls.ReplaceAllString(message, "")) + "\n"
	err := g.Stream(ctx, strings.NewReader(message), &sha, args...)
	return strings.TrimSpace(sha.String()), err
}
