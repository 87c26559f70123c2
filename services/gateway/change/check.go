package change

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
)

// The actions of checks that matter.
const (
	completed   = "completed"
	rerequested = "rerequested"
)

const noCheck = "a check of a commit"

// checkRun reads what became of a check. One that passes is in the report of its suite.
func checkRun(e *github.CheckRunEvent, c *Change) (missing string) {
	c.at(e.GetAction(), e.GetRepo().GetFullName())
	run := e.GetCheckRun()
	if run.GetID() == 0 || run.GetHeadSHA() == "" {
		return noCheck
	}
	ours := run.GetName() == rules.GatesCheck || run.GetName() == rules.ConfigurationCheck
	if c.Action != rerequested && (ours || slices.Contains([]string{"success", "neutral", "skipped"}, run.GetConclusion())) {
		return ""
	}
	f := Fact{ID: fmt.Sprintf("check_run %d %s %s", run.GetID(), run.GetConclusion(), stamp(run.CompletedAt)), sha: run.GetHeadSHA(),
		branches: []string{run.GetCheckSuite().GetHeadBranch()}, App: run.GetApp().GetSlug()}
	c.checked(f, e.GetRepo(), run.PullRequests)
	return ""
}

func checkSuite(e *github.CheckSuiteEvent, c *Change) (missing string) {
	c.at(e.GetAction(), e.GetRepo().GetFullName())
	suite := e.GetCheckSuite()
	if suite.GetID() == 0 || suite.GetHeadSHA() == "" {
		return noCheck
	}
	f := Fact{ID: fmt.Sprintf("check_suite %d %s %s", suite.GetID(), suite.GetConclusion(), stamp(suite.UpdatedAt)), sha: suite.GetHeadSHA(),
		branches: []string{suite.GetHeadBranch()}, App: suite.GetApp().GetSlug()}
	c.checked(f, e.GetRepo(), suite.PullRequests)
	return ""
}

func workflowRun(e *github.WorkflowRunEvent, c *Change) (missing string) {
	c.at(e.GetAction(), e.GetRepo().GetFullName())
	run := e.GetWorkflowRun()
	if run.GetID() == 0 || run.GetHeadSHA() == "" {
		return noCheck
	}
	f := Fact{ID: fmt.Sprintf("workflow_run %d %d %s", run.GetID(), run.GetRunAttempt(), run.GetConclusion()), sha: run.GetHeadSHA(),
		branches: []string{run.GetHeadBranch()}}
	c.checked(f, e.GetRepo(), run.PullRequests)
	return ""
}

// checked notes the fact of a check, of those pull requests that have the commit as their newest.
// The forge names those of forks' parents, too.
func (c *Change) checked(f Fact, in *github.Repository, pulls []*github.PullRequest) {
	f.Event = c.Event
	if c.Action == rerequested { // only of our own, by a person
		f.ID, f.App = c.once(), ""
	}
	for _, pr := range pulls {
		of, head := pr.GetBase().GetRepo().GetID(), pr.GetHead().GetSHA()
		if (of == 0 || of == in.GetID()) && (head == "" || head == f.sha) {
			f.pulls = append(f.pulls, pr.GetNumber())
		}
	}
	c.Facts = []Fact{f.inQueue()}
}

// stamp returns a time as the forge writes it, "" for none.
func stamp(t *github.Timestamp) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}
