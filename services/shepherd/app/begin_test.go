package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/localforge"
)

// issue reports one, and returns its number.
func (p person) issue(title string) int {
	p.w.Helper()
	return int(p.do("POST", "/issues", object{"title": title})["number"].(float64))
}

func TestAStoryThatSomebodyElseDoesIsSkipped(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		merged bool
		reopen bool
		skips  bool
	}{
		"by a pull request that closes its issue":   {body: "Fixes #1", skips: true},
		"by one that is merged":                     {body: "Closes #1", merged: true, skips: true},
		"but not by one that did not do it":         {body: "Closes #1", merged: true, reopen: true},
		"but not by one that only mentions it":      {body: "Related to #1"},
		"but not by one that is of another issue's": {body: "Fixes #7"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			issue := w.eve.issue("Say hello")
			w.bob.pushesNew("hi", "hi.txt", "hi\n")
			pull := int(w.bob.do("POST", "/pulls", object{"title": "Hi", "head": "hi", "base": "trunk", "body": c.body})["number"].(float64))
			if c.merged {
				w.bob.do("PUT", path("/pulls/%d/merge", pull), object{})
			}
			if c.reopen {
				w.bob.do("PATCH", path("/issues/%d", issue), object{"state": "open"})
			}
			s := w.begin("US-1", issue)
			if !c.skips {
				s.proposed()
				if !strings.Contains(s.on()["body"].(string), "Closes #1.") {
					t.Errorf("the pull request says %v", s.on()["body"])
				}
				return
			}
			in := s.reaches("skipped")
			if in.GetVars()["duplicate"] != text10(pull) || !strings.Contains(in.GetQuestions()[0].GetAnswer(), "#"+text10(pull)) {
				t.Errorf("vars are %v, it was answered %v", in.GetVars(), in.GetQuestions())
			}
		})
	}
}

// The log is restored from before the pull request: the story begins again.
func TestAPullRequestThatTheLogDoesNotKnowIsPutToPeopleBeforeADeveloperIsPaid(t *testing.T) {
	for name, c := range map[string]struct {
		author string
		issue  bool
		merged bool
		want   string
	}{
		"of ours, of a story without an issue": {author: "signalbox", want: "is open, and is mine"},
		"of ours, of a story with an issue":    {author: "signalbox", issue: true, want: "is open, and is mine"},
		"of ours that is merged":               {author: "signalbox", merged: true, want: "is mine and is merged"},
		"of a person who copied our marker":    {author: "bob", want: "is open, and is not mine"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			paid := make(chan struct{}, 100)
			w.does(func(agent.Job) change {
				paid <- struct{}{}
				return change{file: "x.txt", text: "x\n"}
			})
			issue := 0
			if c.issue {
				issue = w.eve.issue("Say hello")
			}
			const branch = "signalbox/story-us-1"
			w.bob.pushesNew(branch, "hi.txt", "hi\n")
			us := person{w, c.author}
			pull := int(us.do("POST", "/pulls", object{"title": "Hi", "head": branch, "base": "trunk",
				"body": "Closes #1.\n\n" + rules.Marker(widgets+"/US-1", "pull-request")})["number"].(float64))
			if c.merged {
				w.bob.do("PUT", path("/pulls/%d/merge", pull), object{})
				w.bob.do("DELETE", "/git/refs/heads/"+branch, nil)
			}
			s := w.begin("US-1", issue)
			in := s.escalated()
			if e := in.GetEscalations()[0]; in.GetState() != "pending" || !strings.HasPrefix(e.GetReason(), "pull request #"+text10(pull)) ||
				!strings.Contains(e.GetReason(), c.want) || len(paid) != 0 {
				t.Errorf("in %s it is put to people: %v; a developer worked %d times", in.GetState(), e, len(paid))
			}
			if !c.merged {
				w.ann.do("PATCH", path("/pulls/%d", pull), object{"state": "closed"})
				w.bob.do("DELETE", "/git/refs/heads/"+branch, nil)
			}
			if _, err := w.client.Resolve(w.ctx, s.id, 0, "go ahead"); err != nil {
				t.Fatal(err)
			}
			if s.proposed(); s.pull == pull {
				t.Errorf("the pull request is #%d still", pull)
			}
		})
	}
}

func TestAPersonsPullRequestThatComesDuringTheWorkIsPutToPeopleBeforeOursIsOpened(t *testing.T) {
	w := newEnv(t)
	issue := w.eve.issue("Say hello")
	w.bob.pushesNew("hi", "hi.txt", "hi\n")
	w.does(func(agent.Job) change {
		w.bob.do("POST", "/pulls", object{"title": "Hi", "head": "hi", "base": "trunk", "body": "Fixes #1"})
		return change{file: "x.txt", text: "x\n"}
	})
	in := w.begin("US-1", issue).escalated()
	if e := in.GetEscalations()[0]; in.GetState() != "committed" || !strings.HasPrefix(e.GetReason(), "pull request #2 of bob is open and closes this issue") {
		t.Errorf("in %s it is put to people: %v", in.GetState(), e)
	}
	if status, _ := w.ann.try("GET", "/branches/signalbox/story-us-1", nil); status != 404 {
		t.Errorf("its branch is answered %d", status)
	}
}

func TestWhereNobodyLooksForDuplicatesTheCodeIsBroughtAllTheSame(t *testing.T) {
	w := newEnv(t, "check_duplicates: false")
	issue := w.eve.issue("Say hello")
	w.bob.pushesNew("hi", "hi.txt", "hi\n")
	w.bob.do("POST", "/pulls", object{"title": "Hi", "head": "hi", "base": "trunk", "body": "Fixes #1"})
	if in := w.begin("US-1", issue).proposed().get(); len(in.GetQuestions()) != 1 || !strings.Contains(in.GetQuestions()[0].GetAnswer(), "nobody look") {
		t.Errorf("it was asked %v", in.GetQuestions())
	}
}

func TestAPullRequestIsOpenedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		method, path string
		fault        localforge.Fault
	}{
		"though its answer was lost":          {"POST", "/pulls", localforge.Fault{After: true}},
		"though it was not heard":             {"POST", "/pulls", localforge.Fault{}},
		"though the push's answer was lost":   {"POST", "/git-receive-pack", localforge.Fault{After: true}},
		"though the forge was away meanwhile": {"GET", "/pulls", localforge.Fault{Status: 503}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.forge.Fail(func(r *http.Request) *localforge.Fault {
				beforeWork := r.URL.Query().Get("state") == "all"
				if r.Method != c.method || !strings.HasSuffix(r.URL.Path, c.path) || beforeWork {
					return nil
				}
				return &c.fault
			})
			s := w.begin("US-1", 0)
			if c.path != "/git-receive-pack" { // which is read back at once
				s.until("tried", func(in *instanceMessage) bool { return in.GetState() == "committed" && in.GetFaults() > 0 })
				w.forge.Recover()
			}
			s.proposed()
			if next := w.eve.issue("next"); next != s.pull+1 || s.pull != 1 {
				t.Errorf("the pull request is number %d, what comes next is number %d", s.pull, next)
			}
			body := s.on()["body"].(string)
			if !strings.Contains(body, "As a user, I am greeted.") || !strings.Contains(body, "`make check` on") || strings.Contains(body, "already?") {
				t.Errorf("it says\n%s", body)
			}
		})
	}
}

func TestABranchWithOthersCommitsIsLeftAloneAndPeopleAreAsked(t *testing.T) {
	w := newEnv(t)
	theirs := w.bob.pushesNew("signalbox/story-us-1", "mine.txt", "mine\n")
	s := w.begin("US-1", 0)
	in := s.escalated()
	if e := in.GetEscalations()[0]; in.GetState() != "committed" || !strings.Contains(e.GetReason(), "signalbox/story-us-1 is at "+theirs) {
		t.Errorf("in %s it is put to people: %v", in.GetState(), e)
	}
	if at := w.bob.branchHead("signalbox/story-us-1"); at != theirs {
		t.Errorf("the branch went from %s to %s", theirs, at)
	}
}

func TestWorkThatDoesNotPassIsNotShown(t *testing.T) {
	w := newEnv(t)
	w.does(func(agent.Job) change { return change{file: "x.txt", text: "x\n", fails: true} })
	s := w.begin("US-1", 0)
	in := s.escalated()
	if e := in.GetEscalations()[0]; in.GetState() != "pending" || e.GetReason() != "3 failures in a row" {
		t.Errorf("in %s it is put to people: %v", in.GetState(), e)
	}
	if status, _ := w.ann.try("GET", "/branches/signalbox/story-us-1", nil); status != 404 {
		t.Errorf("its branch is answered %d", status)
	}
}

func TestWorkThatWasCommittedElsewhereIsTakenOver(t *testing.T) {
	t.Run("from its branch", func(t *testing.T) {
		w := newEnv(t)
		head := w.bob.pushesNew("wave", "wave.txt", "wave\n")
		s := w.begin("US-1", 0, "state", "committed", "branch", "wave").proposed()
		if in := s.get(); in.GetBase() != head || s.head() != head || len(w.heard()) != 1 || !strings.Contains(w.heard()[0], "the acceptance criteria on "+head[:7]) {
			t.Errorf("its base is %s, the head %s of %s; asked was %q", in.GetBase(), s.head(), head, w.heard())
		}
		s.merges()
	})
	t.Run("or people are asked where it is", func(t *testing.T) {
		w := newEnv(t)
		s := w.begin("US-1", 0, "state", "committed", "branch", "wave")
		if e := s.escalated().GetEscalations()[0]; !strings.Contains(e.GetReason(), "has no branch wave; push it") {
			t.Errorf("it is put to people: %v", e)
		}
	})
}
