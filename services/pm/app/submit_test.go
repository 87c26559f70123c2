package app

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/forge/local"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/instance"
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
				w.forge.FailRequests("POST", c.path, local.Fault{After: c.after})
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
	w.forge.Fail(func(r *http.Request) *local.Fault {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pulls") && tries.Add(1) == 1 {
			return &local.Fault{Status: http.StatusUnprocessableEntity}
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
	w.forge.FailRequests("POST", "/pulls", local.Fault{Status: http.StatusUnprocessableEntity})
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

// others commits a change on top of a branch and pushes it as another one. It returns its
// commit, and where that branch is.
func (e *env) others(from string) (theirs string, at func() string) {
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
