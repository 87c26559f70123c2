package app

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/forge/merge"
	"github.com/signalbox/signalbox/pkg/localforge"
)

func TestAMergeWhoseAnswerIsLost(t *testing.T) {
	for name, fault := range map[string]localforge.Fault{
		"and that happened":                   {After: true},
		"and that happened, says a gateway":   {After: true, Status: 502},
		"and that did not happen":             {},
		"and that did not, says a gateway":    {Status: 503},
		"by another person's word on the way": {After: true, Status: 405},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			s := w.begin("US-1", 0).proposed()
			w.ann.approve(s.pull)
			w.bob.status(s.head(), "success")
			w.failRequests("PUT", "/merge", fault)
			s.tell()
			if !fault.After {
				s.until("tried", func(in *instanceMessage) bool { return in.GetFaults() > 0 })
				if s.on()["merged"] == true {
					t.Fatal("it is merged")
				}
				w.forge.Recover()
			}
			in := s.reaches("merged")
			w.forge.Recover()
			trunk := w.ann.clone("trunk")
			log, err := trunk.Run(t.Context(), "log", "--format=%s")
			if err != nil || strings.Count(log, "(#1)") != 1 || s.on()["merge_commit_sha"] != evidenceOf(in, "merged").GetData()["sha"] {
				t.Errorf("trunk is\n%s\n%v; merged as %v, by the evidence %v", log, err, s.on()["merge_commit_sha"], evidenceOf(in, "merged").GetData())
			}
		})
	}
}

func TestAPullRequestThatIsComputedForAMinuteIsWaitedFor(t *testing.T) {
	var second atomic.Int64
	began := time.Now()
	w := newEnvOf(t, func(c *localforge.Config) {
		c.ComputingFor = time.Minute
		c.Now = func() time.Time { return began.Add(time.Duration(second.Load()) * time.Second) }
	})
	s := w.begin("US-1", 0).proposed()
	w.ann.approve(s.pull)
	w.bob.status(s.head(), "success")
	for _, at := range []int64{0, 30, 59} {
		second.Store(at)
		in := s.told()
		if in.GetState() != "pushed" || in.GetVars()["outcome"] != "waiting" || in.GetFaults() > 0 || in.GetPaused() || len(in.GetEscalations()) > 0 {
			t.Errorf("after %d s it is in %s, %q, with %d faults and %d escalations", at, in.GetState(), in.GetVars()["outcome"], in.GetFaults(), len(in.GetEscalations()))
		}
	}
	if len(w.heard()) > 0 || w.merged() > 0 {
		t.Errorf("the developer was asked %q, and it was merged %d times", w.heard(), w.merged())
	}
	second.Store(60)
	s.tell()
	s.reaches("merged")
}

func TestAMergeThatTheForgeRefusesWaits(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	w.ann.approve(s.pull)
	w.bob.status(s.head(), "success")
	w.failRequests("PUT", "/merge", localforge.Fault{Status: 405})
	in := s.told()
	if summary := in.GetLastResult().GetSummary(); !strings.Contains(summary, "the forge did not merge it") || s.on()["merged"] == true {
		t.Errorf("it says %q", summary)
	}
	w.forge.Recover()
	s.tell()
	s.reaches("merged")
}

func TestWhatChangesBetweenTheTwoLooksIsSeen(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	w.ann.approve(s.pull)
	w.bob.status(s.head(), "success")
	held := false
	w.onClaim(func() {
		if s.get().GetVars()["merging"] != "" && !held { // found to be ready, not yet merged
			held = true
			w.bob.do("POST", path("/issues/%d/labels", s.pull), object{"labels": []string{"hold"}})
		}
	})
	in := s.told()
	s.stands(in, "no-hold fail")
	if !held || w.merged() != 0 || in.GetVars()["merging"] != "" {
		t.Errorf("held: %v, merges %d, vars %v", held, w.merged(), in.GetVars())
	}
}

func TestADraftThatSomebodyMakesOfItIsTheirWill(t *testing.T) {
	for undrafted, want := range map[string]merge.Verdict{"false": merge.Pass, "true": merge.Pending} {
		job := agent.Job{Assignment: brain.Assignment{Vars: map[string]string{"undrafted": undrafted}}}
		look := visit{job: request{job}, report: merge.Report{Gates: []merge.Gate{
			{Name: merge.GateOpen, Verdict: merge.Pass}, {Name: merge.GateNotDraft, Verdict: merge.Pending},
		}}}
		if got := look.verdict(); got != want {
			t.Errorf("where it was seen as no draft before is %s, the verdict is %s, want %s", undrafted, got, want)
		}
	}
}

func TestAPullRequestThatIsClosedEndsTheStory(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	w.ann.do("PATCH", path("/pulls/%d", s.pull), object{"state": "closed"})
	s.tell()
	in := s.reaches("invalid")
	if in.GetReason() != "the pull request was closed without a merge" || in.GetClosed() != "ended" {
		t.Errorf("it ended %s: %s", in.GetClosed(), in.GetReason())
	}
}

func TestAPullRequestThatSomebodyMergesEndsTheStoryToo(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	w.ann.ready(s.pull)
	w.ann.do("PUT", path("/pulls/%d/merge", s.pull), object{"merge_method": "merge"})
	s.tell()
	in := s.reaches("merged")
	if e := evidenceOf(in, "merged"); !e.GetOk() || e.GetData()["sha"] != s.on()["merge_commit_sha"] {
		t.Errorf("the evidence is %v", e)
	}
}
