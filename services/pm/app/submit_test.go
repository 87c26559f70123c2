package app

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

const branch = "signalbox/issue-1-the-sum-is-wrong"

// submitted sees to it that there is one pull request with the head, and one
// comment that tells of it.
func (e *env) submitted(head string) forge.PullRequest {
	e.Helper()
	pr, err := e.ann.PullRequestByHead(e.Context(), widgets, branch)
	if err != nil || pr.HeadSHA != head || pr.BaseRef != "trunk" || pr.State != "open" {
		e.Fatalf("the pull request is %+v, %v; want it at %s", pr, err, head)
	}
	// Issues and pull requests are numbered together.
	if next, err := e.ann.CreateIssue(e.Context(), widgets, forge.NewIssue{Title: "next"}); err != nil || next.Number != pr.Number+1 || pr.Number != 2 {
		e.Errorf("the pull request is number %d, what comes next is number %d (%v)", pr.Number, next.Number, err)
	}
	if said := e.said(); len(said) != 1 || !strings.Contains(said[0].Body, "#"+strconv.Itoa(pr.Number)) {
		e.Errorf("said is %+v", said)
	}
	return pr
}

func TestAPullRequestIsOpenedOnceThoughTheWorkIsDoneTwice(t *testing.T) {
	for name, c := range map[string]struct {
		path  string // of the request that goes wrong
		after bool   // when it was carried out
	}{
		"when it was all done":                    {},
		"when the push's answer got lost":         {"/git-receive-pack", true},
		"when the pull request's answer got lost": {"/pulls", true},
		"when the pull request was not heard":     {"/pulls", false},
		"when the comment's answer got lost":      {"/comments", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			job := w.solved()
			if c.path != "" {
				w.forge.FailRequests("POST", c.path, localforge.Fault{After: c.after})
				readBack := c.path == "/git-receive-pack" // at once
				if r, err := w.Work(t.Context(), job); errors.Is(err, brain.ErrInfrastructure) == readBack {
					t.Fatalf("it ended with %+v, %v", r, err)
				}
				w.forge.Recover()
			}
			var r instance.Result
			for range 2 {
				w.restart()
				r = w.done(job)
			}
			pr := w.submitted(job.Head)
			if r.Status != instance.Success || r.Data["pr_url"] != pr.URL || r.Data["pr_number"] != "2" || r.Data["branch"] != branch || r.Data["comment_url"] == "" {
				t.Errorf("it ended with %+v", r)
			}
			if !strings.Contains(pr.Body, "Closes #1") || !strings.Contains(pr.Body, "Mend the sum") || pr.Title == "" {
				t.Errorf("it says %q: %q", pr.Title, pr.Body)
			}
		})
	}
}

func TestAPullRequestThatTheForgeRefusesAtFirstIsOpened(t *testing.T) {
	w := newEnv(t)
	job := w.solved()
	var tries atomic.Int32
	w.forge.Fail(func(r *http.Request) *localforge.Fault {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pulls") && tries.Add(1) == 1 {
			return &localforge.Fault{Status: http.StatusUnprocessableEntity}
		}
		return nil
	})
	if r := w.done(job); r.Status != instance.Success || r.Data["pr_number"] != "2" || tries.Load() != 2 {
		t.Errorf("after %d tries it ended with %+v", tries.Load(), r)
	}
	w.submitted(job.Head)
}

func TestAPullRequestThatTheForgeRefusesForGoodIsPutToPeople(t *testing.T) {
	w := newEnv(t)
	job := w.solved()
	w.forge.FailRequests("POST", "/pulls", localforge.Fault{Status: http.StatusUnprocessableEntity})
	if r := w.done(job); r.Status != instance.Blocked || !strings.Contains(r.Summary, "422") || len(w.said()) != 1 {
		t.Errorf("it ended with %+v; said is %+v", r, w.said())
	}
}

func TestFurtherWorkGoesIntoTheSamePullRequest(t *testing.T) {
	w := newEnv(t)
	job := w.solved()
	w.done(job)
	job = w.further(job, "4.0\n")
	w.restart()
	w.done(job)
	w.submitted(job.Head)
}

// others is othersAt of the branch of the issue.
func (e *env) others(from string) (theirs string, at func() string) {
	e.Helper()
	return e.othersAt(from, branch)
}

// othersAt commits a change on top of a branch and pushes it as another one. It returns its
// commit, and where that branch is.
func (e *env) othersAt(from, branch string) (theirs string, at func() string) {
	e.Helper()
	url := e.forge.URL + "/" + widgets + ".git"
	dir := e.TempDir()
	g := git.New(dir).WithIdentity("ann", "ann@example.com").WithToken(url, "ann-token")
	gittest.Run(e.T, g, "clone", "-q", "-b", from, url, ".")
	forgetest.WriteFile(e.T, dir, "sum.txt", "mine\n")
	gittest.Run(e.T, g, "commit", "-q", "-a", "-m", "I was here")
	theirs = gittest.Run(e.T, g, "rev-parse", "HEAD")
	gittest.Run(e.T, g, "push", "-q", "origin", "HEAD:refs/heads/"+branch)
	return theirs, func() string {
		commit, _, _ := strings.Cut(gittest.Run(e.T, g, "ls-remote", "origin", "refs/heads/"+branch), "\t")
		return commit
	}
}

func TestABranchOfOtherWorkIsLeftAloneAndTheNextNameIsTaken(t *testing.T) {
	w := newEnv(t)
	job := w.solved()
	theirs, at := w.others("trunk")
	for range 2 {
		w.restart()
		if r := w.done(job); r.Status != instance.Success || r.Data["branch"] != branch+"-2" || r.Data["pr_number"] != "2" {
			t.Errorf("it ended with %+v", r)
		}
	}
	if at() != theirs {
		t.Errorf("the branch is at %s, was at %s", at(), theirs)
	}
	if pr, err := w.ann.PullRequestByHead(t.Context(), widgets, branch+"-2"); err != nil || pr.HeadSHA != job.Head {
		t.Errorf("the pull request is %+v, %v", pr, err)
	}
	if said := w.said(); len(said) != 1 {
		t.Errorf("said is %+v", said)
	}
}

func TestOurBranchWithOthersCommitsIsLeftAloneAndPeopleAreAsked(t *testing.T) {
	w := newEnv(t)
	job := w.solved()
	w.done(job)
	theirs, at := w.others(branch)
	job = w.further(job, "4.0\n")
	for range 2 {
		w.restart()
		r := w.done(job)
		if r.Status != instance.Blocked || !strings.Contains(r.Summary, branch) || r.Data["comment_url"] == "" {
			t.Errorf("it ended with %+v", r)
		}
	}
	if at() != theirs {
		t.Errorf("the branch is at %s, was at %s", at(), theirs)
	}
	if said := w.said(); len(said) != 2 || !strings.Contains(said[1].Body, branch) {
		t.Errorf("said is %+v", said)
	}
}

func TestABranchOfTheReservedNameHoldsThePushAloneAndOnlyWhileItIsThere(t *testing.T) {
	w := newEnv(t)
	w.othersAt("trunk", "signalbox") // no branch can be below a branch
	job := w.solved()
	if r := w.done(job); r.Status != instance.Blocked {
		t.Fatalf("it ended with %+v", r)
	}
	url := w.forge.URL + "/" + widgets + ".git"
	g := git.New(w.TempDir()).WithIdentity("ann", "ann@example.com").WithToken(url, "ann-token")
	gittest.Run(t, g, "init", "-q")
	gittest.Run(t, g, "push", "-q", url, ":refs/heads/signalbox")
	job.Attempt++ // people answered
	if r := w.done(job); r.Status != instance.Success || r.Data["branch"] != branch || r.Data["pr_number"] != "2" {
		t.Errorf("it ended with %+v", r)
	}
	if pr, err := w.ann.PullRequestByHead(t.Context(), widgets, branch); err != nil || pr.HeadSHA != job.Head {
		t.Errorf("the pull request is %+v, %v", pr, err)
	}
}

func TestTheCommentOnARefusedPushHasTheWordsOfTheForgeAndNotTheCommandOfGit(t *testing.T) {
	w := newEnv(t)
	job := w.solved()
	w.othersAt("trunk", "signalbox") // no branch can be below a branch
	r := w.done(job)
	said := w.said()
	if r.Status != instance.Blocked || len(said) != 1 {
		t.Fatalf("it ended with %+v, said is %+v", r, said)
	}
	for _, text := range []string{r.Summary, said[0].Body} {
		if !strings.Contains(text, "remote rejected") || !strings.Contains(text, "signalbox/issue-1") ||
			strings.Contains(text, "git push") || strings.Contains(text, "porcelain") || strings.Contains(text, job.Head) || strings.Contains(text, "exit status") {
			t.Errorf("it says %s", text)
		}
	}
}

// annCloses opens a pull request of ann's that closes the issue.
func (e *env) annCloses() forge.PullRequest {
	e.Helper()
	e.others("trunk")
	pr, err := e.ann.CreatePullRequest(e.Context(), widgets, forge.NewPullRequest{Title: "Mend the sum", Body: "Fixes #1", Head: branch, Base: "trunk"})
	if err != nil {
		e.Fatal(err)
	}
	return pr
}

func TestAPersonsPullRequestForTheIssueIsAskedAboutBeforeWorkIsPaidFor(t *testing.T) {
	w := newEnv(t)
	pr := w.annCloses()
	var ask *agent.ErrEscalate
	if _, err := w.Work(t.Context(), w.job("received")); !errors.As(err, &ask) || !ask.RequiresHuman || !strings.Contains(ask.Reason, fmt.Sprintf("#%d of ann", pr.Number)) {
		t.Fatalf("it is taken up: %v", err)
	}
	job := w.job("received")
	job.Escalations = []instance.Escalation{{Number: 1, Reason: ask.Reason, Resolved: true}}
	if r := w.done(job); r.Base == "" {
		t.Errorf("though people said to go on it ended with %+v", r)
	}
}

func TestAPersonsPullRequestForTheIssueIsAskedAboutBeforeOursIsOpened(t *testing.T) {
	w := newEnv(t)
	job := w.solved()
	pr := w.annCloses()
	r := w.done(job)
	if r.Status != instance.Blocked || !strings.Contains(r.Summary, fmt.Sprintf("#%d of ann", pr.Number)) || len(w.said()) != 1 {
		t.Fatalf("it ended with %+v, said is %+v", r, w.said())
	}
	job.Last = &instance.Result{Status: instance.Success, Data: map[string]string{rules.Word: rules.Yes, rules.Of: "creating_pr"}}
	if r := w.done(job); r.Status != instance.Success || r.Data["pr_number"] == "" {
		t.Errorf("though people said yes it ended with %+v", r)
	}
}

// The log is restored from before the pull request; the work is done again, with another result.
func TestWorkDoneAgainOpensNoSecondPullRequest(t *testing.T) {
	w := newEnv(t)
	job := w.solved()
	again := job
	again.Head, again.Bundles = job.Base, job.Bundles[:1]
	again = w.further(again, "4.5\n")
	first := w.done(job)
	w.restart()
	if _, err := w.Work(t.Context(), w.job("received")); !errors.As(err, new(*agent.ErrEscalate)) {
		t.Errorf("it is taken up again: %v", err)
	}
	r := w.done(again)
	if r.Status != instance.Blocked || !strings.Contains(r.Summary, "#"+first.Data["pr_number"]+" is open for this issue, and is mine") {
		t.Errorf("it ended with %+v", r)
	}
	pulls, err := w.ann.PullRequests(t.Context(), widgets, time.Time{})
	if err != nil || len(pulls) != 1 {
		t.Errorf("the pull requests are %+v, %v", pulls, err)
	}
}

func TestAnIssueThatTakesNoCommentHoldsNoFinishedWork(t *testing.T) {
	w := newEnv(t)
	job := w.solved()
	w.forge.FailRequests("POST", "/comments", localforge.Fault{Status: http.StatusForbidden})
	r := w.done(job)
	if r.Status != instance.Success || r.Data["pr_number"] != "2" || !strings.Contains(r.Data[forgeside.Untold], "403") || !strings.Contains(r.Summary, "403") {
		t.Fatalf("it ended with %+v", r)
	}
	ended := &pb.Instance{Instance: job.Instance, Issue: wire.Issue(job.Issue), State: "completed", Kind: "final", Closed: "ended", LastResult: wire.Result(r)}
	after := subject.Event{State: "completed", Instance: job.Instance}
	if err := w.tell(t.Context(), after, ended); err == nil || len(w.said()) != 0 {
		t.Errorf("it is told: %v, %+v", err, w.said())
	}
	w.forge.Recover()
	for range 2 {
		if err := w.tell(t.Context(), after, ended); err != nil {
			t.Error(err)
		}
	}
	if said := w.said(); len(said) != 1 || !strings.Contains(said[0].Body, "#2") {
		t.Errorf("said is %+v", said)
	}
}

func TestACommentOfTheShepherdThatIsOwedIsPostedOnTheIssueThatItOpened(t *testing.T) {
	w := newEnv(t)
	follow, err := w.ann.CreateIssue(t.Context(), widgets, forge.NewIssue{Title: "build went red"})
	if err != nil {
		t.Fatal(err)
	}
	r := instance.Result{Status: instance.Success, Summary: "Pull request #7 is not reverted. There is nothing left of it to revert.",
		Data: map[string]string{forgeside.Untold: "403"}}
	ended := &pb.Instance{Instance: "acme/widgets/1/merge-watch", Issue: wire.Issue(w.issue), State: "reported", Kind: "final", Closed: "ended",
		Vars: map[string]string{"prNumber": "7", "followUp": strconv.Itoa(follow.Number)}, LastResult: wire.Result(r)}
	for range 2 {
		if err := w.tell(t.Context(), subject.Event{State: "reported", Instance: ended.GetInstance()}, ended); err != nil {
			t.Error(err)
		}
	}
	said, err := w.ann.Comments(t.Context(), widgets, follow.Number, time.Time{})
	if err != nil || len(said) != 1 || !strings.Contains(said[0].Body, "is not reverted. There is nothing left") || len(w.said()) != 0 {
		t.Errorf("said is %+v, %v, and on the issue of the story %+v", said, err, w.said())
	}
}

func TestQuestionsThatTheIssueDoesNotTakeArePutToPeopleAnotherWay(t *testing.T) {
	w := newEnv(t)
	w.forge.FailRequests("POST", "/comments", localforge.Fault{Status: http.StatusForbidden})
	var ask *agent.ErrEscalate
	if _, err := w.asking(); !errors.As(err, &ask) || !ask.RequiresHuman || !strings.Contains(ask.Reason, "403") {
		t.Errorf("it ended with %v", err)
	}
}

func TestAnIssueIsDeliveredWhateverItsWordsWouldDo(t *testing.T) {
	for title, want := range map[string]string{
		"/login returns 500 for an empty password": "`/login` returns 500 for an empty password",
		"Fixes #7, says @octocat":                  "Fixes # 7, says @ octocat",
		"Strip <!-- from output [skip ci]":         "Strip <!-- from output (skip ci)",
		"!merge is ignored":                        "`!merge` is ignored",
		"bors r+ does nothing":                     "`bors r+` does nothing",
		"The key " + token + " is printed":         "The key [redacted: github-token] is printed",
	} {
		t.Run(title, func(t *testing.T) {
			e := newEnv(t)
			job := e.solved()
			job.Issue.Title = title
			job.Issue.Body = title + "\n\n![a](https://evil.example/s.png)\n\n[x]: https://evil.example\n\n<div hidden>\n@octocat\n</div>\n\n/approve\n\n" + strings.Repeat(">", 500) + "\n"
			if r := e.done(job); r.Status != instance.Success {
				t.Fatalf("it ended with %+v", r)
			}
			pr, err := e.ann.PullRequestByHead(t.Context(), widgets, Branch(job.Issue))
			if err != nil || pr.Title != want {
				t.Errorf("the pull request is %q, want %q, %v", pr.Title, want, err)
			}
		})
	}
}
