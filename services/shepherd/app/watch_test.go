package app

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// merged returns the instance that watches the merge of a story, and the merge commit.
func (s *tale) watched() (watch *tale, commit string) {
	s.w.Helper()
	s.reaches("merged")
	watch = &tale{w: s.w, id: s.id + "/merge-watch", pull: s.pull}
	s.w.until(func() bool { _, err := s.w.client.Get(s.w.ctx, watch.id); return err == nil })
	watch.until("watching", func(in *instanceMessage) bool { return in.GetParked() != nil || in.GetClosed() != "" })
	return watch, s.on()["merge_commit_sha"].(string)
}

// looks has the checks looked at again, and returns how that ended.
func (s *tale) looks() *instanceMessage {
	s.w.Helper()
	at := s.tell()
	return s.until("looked at", func(in *instanceMessage) bool {
		return in.GetSeq() > at && (in.GetParked() != nil || in.GetClosed() != "")
	})
}

// followUps are the issues that the shepherd opened.
func (e *env) followUps() (all []forge.Issue) {
	e.Helper()
	issues, err := e.forge.Client("ann").Issues(e.ctx, widgets, time.Time{})
	if err != nil {
		e.Fatal(err)
	}
	return slices.DeleteFunc(issues, func(i forge.Issue) bool { return i.Author.Login != "signalbox" })
}

// readyToMerge has a story in which nothing is left but to look.
func (e *env) readyToMerge() *tale {
	e.Helper()
	s := e.begin("US-1", 0).proposed()
	e.ann.approve(s.pull)
	e.bob.status(s.head(), "success")
	s.tell()
	return s
}

func TestACheckThatGoesRedAfterTheMergeOpensAnIssue(t *testing.T) {
	w := newEnvWith(t, nil, []string{"follow_up_labels: ci regression"})
	watch, commit := w.readyToMerge().watched()
	if in := watch.get(); in.GetState() != "watching" || !strings.Contains(in.GetLastResult().GetSummary(), "no check of "+commit[:7]+" is red; they are watched until") {
		t.Errorf("in %s it says %q", in.GetState(), in.GetLastResult().GetSummary())
	}
	w.bob.fails(commit, "build")
	in := watch.looks()
	if in.GetState() != "reported" || in.GetReason() != "a check is red; an issue is open for it" {
		t.Fatalf("it is in %s: %s", in.GetState(), in.GetReason())
	}
	issues := w.followUps()
	if len(issues) != 1 || in.GetVars()["followUp"] != text10(issues[0].Number) || !slices.Equal(issues[0].Labels, []string{"ci", "regression"}) {
		t.Fatalf("the issues are %+v", issues)
	}
	if issues[0].Title != "build went red after pull request #1 was merged" {
		t.Errorf("its title is %q", issues[0].Title)
	}
	for _, want := range []string{"#1 was merged as " + commit, "### build\n", "/runs/", "run build: failure", "2 problems", "US-1.txt:1: failure: undefined: hello"} {
		if !strings.Contains(issues[0].Body, want) {
			t.Errorf("no %q in\n%s", want, issues[0].Body)
		}
	}
	report := brain.Assignment{Issue: instance.Issue{Title: issues[0].Title, Body: issues[0].Body, Labels: issues[0].Labels}}
	if w := rules.Weigh(report); w.Confidence < 1 {
		t.Errorf("the analyst is sure to %v, and asks %q", w.Confidence, w.Questions)
	}
}

// The log is restored from before the issue, which nobody has changed for days.
func TestTheIssueAboutARedMergeIsFoundHoweverOldItIs(t *testing.T) {
	w := newEnvAt(t, func() time.Time { return time.Now().Add(-7 * 24 * time.Hour) })
	old := person{w, "signalbox"}.do("POST", "/issues", object{"title": "build went red",
		"body": rules.Marker(widgets+"/US-1/merge-watch", rules.FollowsMerge)})["number"].(float64)
	watch, commit := w.readyToMerge().watched()
	w.bob.fails(commit, "build")
	in := watch.looks()
	if issues := w.followUps(); in.GetVars()["followUp"] != text10(int(old)) || len(issues) != 1 {
		t.Errorf("it is reported in #%s, the issues are %+v", in.GetVars()["followUp"], issues)
	}
}

func TestWhatIsNoFailureOfTheMergeOpensNothing(t *testing.T) {
	for name, check := range map[string]func(w *env, before, merge string){
		"no check at all":     func(*env, string, string) {},
		"a cancelled one":     func(w *env, _, merge string) { w.bob.check(merge, "build", "cancelled") },
		"a skipped one":       func(w *env, _, merge string) { w.bob.check(merge, "build", "skipped") },
		"one that never ends": func(w *env, _, merge string) { w.bob.check(merge, "build", "") },
		"one that was red before": func(w *env, before, merge string) {
			w.bob.fails(before, "build")
			w.bob.fails(merge, "build")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnvWith(t, nil, []string{"watch_for: 1h"})
			before := w.ann.branchHead("trunk")
			watch, commit := w.readyToMerge().watched()
			check(w, before, commit)
			if in := watch.looks(); in.GetState() != "watching" || len(w.followUps()) != 0 {
				t.Errorf("in %s (%s) the issues are %+v", in.GetState(), in.GetLastResult().GetSummary(), w.followUps())
			}
		})
	}
}

func TestTheChecksAreWatchedForAWhile(t *testing.T) {
	w := newEnvWith(t, nil, []string{"watch_for: 0s"})
	watch, _ := w.readyToMerge().watched()
	if in := watch.reaches("ended"); in.GetReason() != "no check went red" {
		t.Errorf("it ended: %s", in.GetReason())
	}
}

func TestNoCheckIsWatchedWhereThePolicySaysSo(t *testing.T) {
	w := newEnv(t, "watch_merge: false")
	if in := w.readyToMerge().reaches("merged"); len(in.GetLinks()) != 0 {
		t.Errorf("it opened %v", in.GetLinks())
	}
}

func TestAMergeIsRevertedWhereThePolicySaysSo(t *testing.T) {
	for _, method := range []string{"squash", "merge", "rebase"} {
		t.Run(method, func(t *testing.T) {
			w := newEnvWith(t, nil, []string{"revert: true"}, "merge_method: "+method)
			before := w.ann.branchHead("trunk")
			s := w.begin("US-1", 0).proposed()
			w.ann.comment(s.pull, "Say please.") // a second commit
			s.told()
			w.ann.approve(s.pull)
			w.bob.status(s.head(), "success")
			s.tell()
			watch, commit := s.watched()
			w.bob.fails(commit, "build")
			watch.looks()
			in := watch.reaches("reverted")
			revert := &tale{w: w, id: watch.id + "/story"}
			w.until(func() bool { _, err := w.client.Get(w.ctx, revert.id); return err == nil })
			revert.proposed()
			if pr := revert.on(); pr["head"].(object)["ref"] != "signalbox/revert-1" || pr["title"] != `Revert "Say hello in US-1"` ||
				!strings.Contains(pr["body"].(string), "see #"+in.GetVars()["followUp"]) || pr["draft"] != true {
				t.Errorf("the pull request is %v", pr)
			}
			revert.stands(revert.get(), "no-failing-checks pending", "approvals pending")
			revert.merges()
			trunk := w.ann.clone("trunk")
			if diff := gittest.Run(t, trunk, "diff", "--stat", before, "HEAD"); diff != "" {
				t.Errorf("the revert leaves\n%s", diff)
			}
		})
	}
}

func TestARevertThatConflictsIsLeftToPeople(t *testing.T) {
	w := newEnvWith(t, nil, []string{"revert: true"})
	watch, commit := w.readyToMerge().watched()
	w.ann.pushes("trunk", "US-1.txt", "built upon\n")
	w.bob.fails(commit, "build")
	watch.tell()
	in := watch.reaches("reported")
	issues := w.followUps()
	if len(issues) != 1 || in.GetReason() != "people have to revert it" {
		t.Fatalf("%s; the issues are %+v", in.GetReason(), issues)
	}
	if said := w.said(issues[0].Number); len(said) != 1 || !strings.Contains(said[0], "- `US-1.txt`") {
		t.Errorf("it says there %q", said)
	}
	if status, _ := w.ann.try("GET", "/branches/signalbox/revert-1", nil); status != 404 {
		t.Errorf("the branch of the revert is answered %d", status)
	}
}

func TestARevertIsNotRevertedAgain(t *testing.T) {
	w := newEnvWith(t, nil, []string{"revert: true"})
	head := w.bob.pushesNew(revertPrefix+"7", "x.txt", "x\n")
	pull := w.bob.proposes(revertPrefix+"7", "Revert it")
	s := w.begin("US-1", 0, "state", "pushed", "prNumber", text10(pull))
	s.proposed()
	w.ann.approve(pull)
	w.bob.status(head, "success")
	s.tell()
	watch, commit := s.watched()
	w.bob.fails(commit, "build")
	watch.tell()
	watch.reaches("reported")
	if said := w.said(w.followUps()[0].Number); len(said) != 1 || !strings.Contains(said[0], "It is a revert itself") {
		t.Errorf("it says %q", said)
	}
}
