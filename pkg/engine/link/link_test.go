package link_test

import (
	"maps"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestAnInstanceOpensAnotherAndLearnsHowItEnded(t *testing.T) {
	for name, c := range map[string]struct {
		status instance.Status
		state  string
	}{"well": {instance.Success, "good"}, "not well": {instance.Failure, "bad"}} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			r := e.replica()
			r.open("a", "parent")
			r.report("a", instance.Result{})
			opened := r.in("a/child", "late")
			want := map[string]string{"priority": "7", "word": "hello"} // size is a text there and a number here
			if opened.Parent != "a" || opened.Issue.Number != 7 || !maps.Equal(opened.Vars, want) {
				t.Errorf("opened was %+v with %v, want %v", opened, opened.Vars, want)
			}
			r.report("a/child", instance.Result{Status: c.status})
			end := r.in("a", c.state)
			if l := end.Links[0]; !l.Ended || l.Well != (name == "well") {
				t.Errorf("it knows %+v", l)
			}
		})
	}
}

func TestATaskWaitsForThoseItComesAfter(t *testing.T) {
	e := newEnv(t)
	r := e.replica()
	r.open("1", "chain")
	r.report("1", instance.Result{})
	r.open("2", "chain", "1") // which has ended already
	r.open("4", "chain", "2", "3")
	r.open("3", "chain", "2")
	r.in("2", "doing")
	for _, waits := range []string{"3", "4"} {
		if now := r.in(waits, "pending"); now.WaitingOn() == 0 {
			t.Errorf("%s waits for nothing", waits)
		}
	}
	r.report("2", instance.Result{})
	r.in("3", "doing")
	if now := r.await("4", "told of 2", func(now instance.Instance) bool { return now.WaitingOn() == 1 }); now.State != "pending" {
		t.Errorf("it is in %s", now.State)
	}
	r.report("3", instance.Result{})
	r.in("4", "doing")
}

func TestATaskDoesNotFollowOneThatFailed(t *testing.T) {
	e := newEnv(t)
	r := e.replica()
	r.open("1", "chain")
	r.open("2", "chain", "1")
	r.open("3", "chain", "cancelled")
	r.report("1", instance.Result{Status: instance.Failure})
	r.open("cancelled", "chain", "1")
	r.do("cancelled", "", instance.Cancel{})
	for _, in := range []string{"2", "3"} {
		now := r.await(in, "told", func(now instance.Instance) bool { return now.Links[0].Ended })
		if now.State != "pending" || now.Links[0].Well {
			t.Errorf("%s is in %s, and knows %+v", in, now.State, now.Links[0])
		}
	}
}

func TestLinksAreMadeGoodAfterARestart(t *testing.T) {
	e := newEnv(t)
	first := e.replica()
	first.open("a", "parent")
	first.do("b", "chain", instance.Open{Issue: instance.Issue{Title: "more"}})
	first.open("c", "chain", "b")
	first.stop()
	first.report("a", instance.Result{})
	first.report("b", instance.Result{}) // spawns with its last breath
	e.server.Restart(t)
	second := e.replica()
	second.in("a/child", "late")
	second.in("b/child", "late")
	second.in("c", "doing")
	second.stop()
	second.report("a/child", instance.Result{})
	second.report("b/child", instance.Result{})
	third := e.replica()
	third.in("a", "good")
	third.await("b", "told", func(now instance.Instance) bool { return now.Links[0].Ended && now.Links[0].Well })
}

func TestSeveralReplicasLinkOnce(t *testing.T) {
	e := newEnv(t)
	replicas := []*replica{e.replica(), e.replica(), e.replica()}
	r := replicas[0]
	r.open("a", "parent")
	r.open("after", "chain", "a")
	r.report("a", instance.Result{})
	r.in("a/child", "late")
	r.report("a/child", instance.Result{})
	r.in("a", "good")
	r.in("after", "doing")
	for _, r := range replicas {
		r.stop() // whatever they were about
	}
	if n := commits[instance.Opened](r, "a/child"); n != 1 {
		t.Errorf("the child was opened %d times", n)
	}
	for _, in := range []string{"a", "after"} {
		if n := commits[instance.LinkEnded](r, in); n != 1 {
			t.Errorf("%s was told %d times", in, n)
		}
	}
}

func TestASpawnWaitsForAProcessThatHasItsLifecycle(t *testing.T) {
	e := newEnv(t)
	old := e.replica(parent)
	old.open("a", "parent")
	old.report("a", instance.Result{})
	if now := old.in("a", "hand"); now.Links[0].Ended {
		t.Errorf("it knows %+v", now.Links[0])
	}
	e.replica()
	old.in("a/child", "late")
}

func TestASpawnThatCannotBeOpenedHasNotEndedWell(t *testing.T) {
	e := newEnv(t)
	r := e.replica(parent, `{workflow: child, version: 1, initial: early, states: {early: {next: [done], on: {go: done}}, done: {final: true}}}`)
	r.open("a", "parent")
	r.report("a", instance.Result{})
	r.in("a", "bad")
}
