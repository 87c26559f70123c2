package forgeside

import (
	"context"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/forge"
)

// Proposer is the part of a forge that Propose uses.
type Proposer interface {
	forge.Proposer
	Self(ctx context.Context) (string, error)
}

// Proposal is the pull request of a job's work.
type Proposal struct {
	Repo   forge.Repository
	Branch string
	Draft  bool
	Text   rules.PullRequest // without the commits
}

// Propose finds the pull request of the job's work, or opens it. own reports whether it is the
// job's, by its author and its marker. One that people have closed or merged counts if it is own
// and of this very commit.
func (g Gate) Propose(ctx context.Context, on Proposer, job agent.Job, p Proposal) (pr forge.PullRequest, own bool, err error) {
	self, err := on.Self(ctx)
	if err != nil {
		return pr, false, err
	}
	ours := func(pr forge.PullRequest) bool {
		return pr.Author.Login == self && strings.Contains(pr.Body, rules.Marker(job.Instance, "pull-request"))
	}
	pr, err = forge.Propose(ctx, on, forge.Proposal{
		Repo: p.Repo.Name, Branch: p.Branch,
		Ours: func(pr forge.PullRequest) bool { return ours(pr) && pr.HeadSHA == job.Head },
		Describe: func() (forge.NewPullRequest, error) {
			text := p.Text
			if job.Head != job.Base {
				entries, stat, err := g.Workspace.Log(ctx, workspace.Spec{Repo: p.Repo.Name, Bundles: BundleObjects(job), Base: job.Base, Head: job.Head})
				if err != nil {
					return forge.NewPullRequest{}, err
				}
				for _, e := range entries {
					text.Commits = append(text.Commits, rules.Commit{SHA: e.Commit, Subject: e.Subject})
				}
				text.Diffstat = stat
			}
			text.Closes = true // the base is the default branch
			return forge.NewPullRequest{Title: text.Title(), Body: text.Body(), Base: p.Repo.DefaultBranch, Draft: p.Draft, Closes: job.Issue.Number}, nil
		},
	})
	return pr, err == nil && ours(pr), err
}
