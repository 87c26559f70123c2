package app

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
)

// merges has the story merged, now that nothing else is in the way.
func (s *tale) merges() {
	s.w.Helper()
	s.w.ann.approve(s.pull)
	s.w.bob.status(s.head(), "success")
	s.tell()
	s.reaches("merged")
}

// contains reports whether the branch holds the commits.
func (e *env) contains(branch string, commits ...string) bool {
	e.Helper()
	g := e.ann.clone(branch)
	for _, c := range commits {
		if _, err := g.Run(e.ctx, "merge-base", "--is-ancestor", c, "HEAD"); err != nil {
			return false
		}
	}
	return true
}

func TestAHumansPushToOurBranchIsBuiltUpon(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	ours := s.head()
	theirs := w.bob.pushes("signalbox/story-us-1", "bob.txt", "bob was here\n")
	in := s.told()
	if !w.contains("signalbox/story-us-1", ours, theirs, s.head()) || in.GetHead() != s.head() || s.head() == theirs {
		t.Fatalf("the branch is at %s, the work at %s; ours was %s, theirs %s", s.head(), in.GetHead(), ours, theirs)
	}
	if len(w.heard()) != 1 || !strings.Contains(w.heard()[0], "moved to "+theirs) || !strings.Contains(w.heard()[0], "acceptance criteria on "+theirs[:7]) {
		t.Errorf("the developer was asked %q", w.heard())
	}
	s.stands(in, "no-failing-checks pending", "approvals pending")
	s.merges()
	if trunk := w.ann.clone("trunk"); read(t, trunk.Dir(), "bob.txt") != "bob was here\n" || read(t, trunk.Dir(), "US-1.txt") == "" {
		t.Error("trunk has not what both brought")
	}
}

func TestAHumansPushWhileTheDeveloperWorksIsBuiltUponToo(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	var theirs string
	develop := w.develop
	w.does(func(job agent.Job) change {
		if theirs == "" && job.Question != nil {
			theirs = w.bob.pushes("signalbox/story-us-1", "bob.txt", "bob was here\n")
		}
		return develop(job)
	})
	w.ann.comment(s.pull, "Say please.")
	in := s.told()
	if !w.contains("signalbox/story-us-1", theirs) || in.GetHead() != s.head() || len(w.heard()) != 2 {
		t.Fatalf("the branch is at %s, the work at %s, theirs %s; the developer was asked %q", s.head(), in.GetHead(), theirs, w.heard())
	}
	branch := w.ann.clone("signalbox/story-us-1")
	for _, file := range []string{"bob.txt", "US-1.txt", "US-1-2.txt", "US-1-3.txt"} {
		if read(t, branch.Dir(), file) == "" {
			t.Errorf("the branch has no %s", file)
		}
	}
	if said := w.said(s.pull); len(said) != 1 {
		t.Errorf("ann is answered %q", said)
	}
	s.merges()
}

// force makes the commit the head of the story's branch.
func (p person) force(branch, commit string) {
	p.w.Helper()
	g := p.clone(branch)
	gittest.Run(p.w, g, "push", "-q", "--force", "origin", commit+":refs/heads/"+branch)
}

func TestAHumansForcedPushIsNotUndone(t *testing.T) {
	const branch = "signalbox/story-us-1"
	takenOver := func(t *testing.T, s *tale, ours, mine string) {
		t.Helper()
		in := s.told()
		if s.head() != mine || in.GetHead() != mine || s.w.contains(branch, ours) {
			t.Errorf("the branch is at %s, the work at %s; a person moved it from %s to %s", s.head(), in.GetHead(), ours, mine)
		}
		if ev := evidenceOf(in, "acceptance"); ev.GetCommit() != mine || !ev.GetOk() {
			t.Errorf("the acceptance criteria are %v", ev)
		}
		want := fmt.Sprintf("bob moved the branch by force from %.7s to %.7s: the work goes on from there", ours, mine)
		if said := s.summaries(); !slices.Contains(said, want) {
			t.Errorf("the log has %q, want %q", said, want)
		}
	}
	t.Run("with work of another origin", func(t *testing.T) {
		w := newEnv(t)
		s := w.begin("US-1", 0).proposed()
		ours := s.head()
		g := w.bob.clone("trunk")
		forgetest.WriteFile(t, g.Dir(), "mine.txt", "mine\n")
		gittest.Run(t, g, "add", "-A")
		gittest.Run(t, g, "commit", "-q", "-m", "My own way")
		gittest.Run(t, g, "push", "-q", "--force", "origin", "HEAD:refs/heads/"+branch)
		takenOver(t, s, ours, gittest.Run(t, g, "rev-parse", "HEAD"))
		s.merges()
		if _, err := os.Stat(filepath.Join(w.ann.clone("trunk").Dir(), "US-1.txt")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("what a person took out is on trunk: %v", err)
		}
	})
	t.Run("back to an earlier commit of ours, and a remark is worked in on top", func(t *testing.T) {
		w := newEnv(t)
		s := w.begin("US-1", 0).proposed()
		first := s.head()
		w.ann.comment(s.pull, "Say please.")
		s.told()
		second := s.head()
		w.bob.force(branch, first)
		takenOver(t, s, second, first)
		w.ann.comment(s.pull, "Say it louder.")
		s.told()
		if s.head() == first || !w.contains(branch, first) || w.contains(branch, second) {
			t.Errorf("the branch is at %s; a person took out %s", s.head(), second)
		}
		s.merges()
	})
	t.Run("while the developer works, whose work is done again", func(t *testing.T) {
		w := newEnv(t)
		s := w.begin("US-1", 0).proposed()
		ours, mine := s.head(), ""
		develop := w.develop
		w.does(func(job agent.Job) change {
			if mine == "" && job.Question != nil {
				g := w.bob.clone("trunk")
				gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "My own way")
				mine = gittest.Run(t, g, "rev-parse", "HEAD")
				gittest.Run(t, g, "push", "-q", "--force", "origin", "HEAD:refs/heads/"+branch)
			}
			return develop(job)
		})
		w.ann.comment(s.pull, "Say please.")
		s.told()
		if !w.contains(branch, mine, s.head()) || w.contains(branch, ours) || len(w.said(s.pull)) != 1 {
			t.Errorf("the branch is at %s, a person moved it to %s; said is %q", s.head(), mine, w.said(s.pull))
		}
	})
}

func TestAConflictIsWorkedOut(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	ours := s.head()
	trunk := w.ann.pushes("trunk", "US-1.txt", "another greeting\n")
	tries := 0
	w.does(func(job agent.Job) change {
		if tries++; tries == 1 {
			return change{says: "Done."} // and the marks are still there
		}
		return change{file: "US-1.txt", text: "hello, and another greeting\n", says: "I kept both greetings."}
	})
	in := s.told()
	if !w.contains("signalbox/story-us-1", ours, trunk) || in.GetHead() != s.head() || tries != 2 {
		t.Fatalf("the branch is at %s, after %d tries", s.head(), tries)
	}
	if asked := w.heard()[0]; !strings.Contains(asked, "### conflict\n") || !strings.Contains(asked, "- US-1.txt\n") {
		t.Errorf("the developer was asked\n%s", asked)
	}
	if v, reason := gate(in, "mergeable"); v != "pass" {
		t.Errorf("it can be merged: %s, %s", v, reason)
	}
	s.merges()
	if got := read(t, w.ann.clone("trunk").Dir(), "US-1.txt"); got != "hello, and another greeting\n" {
		t.Errorf("trunk has %q", got)
	}
}

func TestWorkThatIsToHaveAllOfTheBaseGetsIt(t *testing.T) {
	w := newEnv(t)
	w.ann.do("POST", "/rulesets", object{
		"name": "fresh", "enforcement": "active", "conditions": object{"ref_name": object{"include": []string{"~DEFAULT_BRANCH"}}},
		"rules": []object{{"type": "required_status_checks", "parameters": object{
			"strict_required_status_checks_policy": true, "required_status_checks": []object{{"context": "ci"}},
		}}},
	})
	s := w.begin("US-1", 0).proposed()
	trunk := w.ann.pushes("trunk", "other.txt", "other\n")
	s.told()
	if !w.contains("signalbox/story-us-1", trunk) || len(w.heard()) != 1 || !strings.Contains(w.heard()[0], "### merged") {
		t.Errorf("the branch is at %s; asked was %q", s.head(), w.heard())
	}
	s.merges()
}

func TestFeedbackThatIsNotWorkedInComesToPeople(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	head := s.head()
	develop := w.develop
	w.does(func(job agent.Job) change { c := develop(job); c.fails = true; return c })
	w.ann.comment(s.pull, "Say please.")
	s.tell()
	in := s.escalated()
	if e := in.GetEscalations()[0]; e.GetReason() != "3 failures in a row" || len(w.heard()) != 3 || s.head() != head || len(w.said(s.pull)) != 0 {
		t.Errorf("after %d tries it is put to people: %v; the head went from %s to %s", len(w.heard()), e, head, s.head())
	}
	w.does(develop)
	if _, err := w.client.Resolve(w.ctx, s.id, 0, "try once more"); err != nil {
		t.Fatal(err)
	}
	in = s.rests(in.GetSeq())
	if said := w.said(s.pull); len(said) != 1 || in.GetHead() != s.head() || s.head() == head {
		t.Errorf("after people resolved it, said is %q", said)
	}
}

func TestADeveloperWhoFailsAnswersNobody(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	develop := w.develop
	w.does(func(job agent.Job) change {
		if job.Question.Number == 2 { // the first that it is asked
			return change{err: errors.New("the program crashed")}
		}
		return develop(job)
	})
	w.ann.comment(s.pull, "Say please.")
	in := s.told()
	said := w.said(s.pull)
	if len(said) != 1 || strings.Contains(said[0], "crashed") || len(w.heard()) != 2 || in.GetVars()["lastActivityBy"] != "bot" {
		t.Errorf("said is %q, asked was %q", said, w.heard())
	}
	if moves := s.moves(); !slices.Contains(moves, "pushed: the feedback could not be applied") {
		t.Errorf("it went %q", moves)
	}
}

func TestAConversationOnALineIsAnsweredWhereItIsAndEnded(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	id := w.ann.onLine(s.pull, s.head(), "US-1.txt", "Why so quiet?")
	in := s.told()
	s.stands(in, "no-failing-checks pending", "approvals pending")
	said := w.said(s.pull)
	lines := w.lines(s.pull)
	if len(said) != 1 || len(lines) != 2 || lines[1].ReplyTo != id || !strings.Contains(lines[1].Body, "Answered in http") {
		t.Fatalf("said is %q, in the conversation %+v", said, lines)
	}
	// Who goes on in a conversation that we ended is heard.
	w.ann.do("POST", path("/pulls/%d/comments/%d/replies", s.pull, id), object{"body": "Still too quiet."})
	s.told()
	if len(w.heard()) != 2 || !strings.Contains(w.heard()[1], "> Still too quiet.") || strings.Contains(w.heard()[1], "Why so quiet") {
		t.Errorf("the developer was asked %q", w.heard())
	}
	s.merges()
}

// The forge fails when the answer is to be given, at the first look.
func TestAConversationThatCouldNotBeReadIsEndedAllTheSame(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	w.ann.onLine(s.pull, s.head(), "US-1.txt", "Why so quiet?")
	var failed atomic.Bool
	fault := func(r *http.Request) *localforge.Fault {
		if strings.HasSuffix(r.URL.Path, "/graphql") && len(w.heard()) == 1 && failed.CompareAndSwap(false, true) {
			return &localforge.Fault{Status: http.StatusBadGateway}
		}
		return nil
	}
	w.forge.Fail(fault)
	s.told()
	ann := w.forge.Client("ann")
	state, err := ann.ReviewState(w.ctx, widgets, s.pull)
	if err != nil || !failed.Load() || len(state.Threads) != 1 || !state.Threads[0].Resolved {
		t.Errorf("the forge failed: %v; the conversations are %+v, %v", failed.Load(), state.Threads, err)
	}
}
