package bare

import (
	"context"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// Commit is what git log prints of a commit.
type Commit struct {
	SHA, Tree         string
	Parents           []string
	Author, Committer Signature
	Message           string
}

// Signature is the author or committer of a commit, with the date.
type Signature struct{ Name, Email, Date string }

// commitFormat ends a commit with NUL, which a message cannot contain.
const commitFormat = "--format=%H%x1f%T%x1f%P%x1f%an%x1f%ae%x1f%aI%x1f%cn%x1f%ce%x1f%cI%x1f%B"

// Commits returns what git log shows for the revisions.
func (r Repo) Commits(ctx context.Context, revisions ...string) ([]Commit, error) {
	args := append([]string{"log", "-z", commitFormat}, revisions...)
	out, err := r.read(ctx, git.MaxOutput, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	var commits []Commit
	for record := range strings.SplitSeq(out, "\x00") {
		part := strings.SplitN(record, "\x1f", 10)
		if len(part) < 10 {
			continue
		}
		commits = append(commits, Commit{
			SHA: part[0], Tree: part[1], Parents: strings.Fields(part[2]), Message: strings.TrimSpace(part[9]),
			Author: Signature{part[3], part[4], part[5]}, Committer: Signature{part[6], part[7], part[8]},
		})
	}
	return commits, nil
}
