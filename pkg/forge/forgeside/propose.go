package forgeside

import (
	"cmp"
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
	Base   string // the branch that it is for; empty: the default branch
	Draft  bool
	Text   rules.PullRequest // without the commits

	// Title and Body, if set, stand in place of Text. The job then has one pull request, of
	// whatever commit. Propose adds the marker to the body.
	Title, Body string
}

// Propose finds the pull request of the job's work, or opens it. own reports whether it is the
// job's, by its author and its marker. One that people have closed or merged counts if it is own
// and of this very commit, unless it has a Title of its own.
func (g Gate) Propose(ctx context.Context, on Proposer, job agent.Job, p Proposal) (pr forge.PullRequest, own bool, err error) {
	self, err := on.Self(ctx)
	if err != nil {
		return pr, false, err
	}
	mark := rules.Marker(job.Instance, "pull-request")
	ours := func(pr forge.PullRequest) bool { return pr.Author.Login == self && strings.Contains(pr.Body, mark) }
	pr, err = forge.Propose(ctx, on, forge.Proposal{
		Repo: p.Repo.Name, Branch: p.Branch,
		Ours: func(pr forge.PullRequest) bool { return ours(pr) && (p.Title != "" || pr.HeadSHA == job.Head) },
		Describe: func() (forge.NewPullRequest, error) {
			in := forge.NewPullRequest{Title: p.Title, Body: p.Body + "\n\n" + mark, Base: cmp.Or(p.Base, p.Repo.DefaultBranch), Draft: p.Draft}
			if p.Title != "" {
				return in, nil
			}
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
			in.Title, in.Body, in.Closes = text.Title(), text.Body(), job.Issue.Number
			return in, nil
		},
	})
	return pr, err == nil && ours(pr), err
}
