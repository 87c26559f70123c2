package app

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/forge/merge"
	"github.com/signalbox/signalbox/pkg/localforge"
)

func TestTheTableOfGates(t *testing.T) {
	gates := []merge.Gate{
		{Name: merge.GateOpen, Verdict: merge.Pass, Reason: "it is open"},
		{Name: merge.GateNotDraft, Verdict: merge.Fail, Reason: "it is a draft"},
		{Name: merge.GateNoFailingChecks, Verdict: merge.Fail, Reason: "of a|b, says @eve: fixes #3", Evidence: []merge.Evidence{
			{What: "status <img src=x>", Says: "failure\n/approve"}, {What: "run", Says: "pending"}}},
	}
	want := `| gate | | |
|---|---|---|
| ` + "`open`" + ` | pass | it is open |
| ` + "`not-draft`" + ` | at the end | it is a draft |
| ` + "`no-failing-checks`" + ` | fail | of a\|b, says @ eve: fixes # 3<br>status \<img src=x>: failure /approve<br>run: pending |
`
	got := gateTable(gates, func(g merge.Gate) bool { return g.Name == merge.GateNotDraft })
	if diff := cmp.Diff(want, strings.ReplaceAll(got, "\u200b", "·")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestATableOfGatesFitsIntoACheck(t *testing.T) {
	long := merge.Gate{Name: "x", Verdict: merge.Unknown, Reason: strings.Repeat("@eve ", 1000)}
	for range 1000 {
		long.Evidence = append(long.Evidence, merge.Evidence{What: long.Reason, Says: long.Reason})
	}
	gates := []merge.Gate{long, long, long, long, long, long, long, long, long, long, long, long, long, long}
	if n := len([]rune(gateTable(gates, func(merge.Gate) bool { return false }))); n > 65535 {
		t.Errorf("it has %d characters", n)
	}
}

func TestOurOwnCheckIsNoneThatAGateWaitsFor(t *testing.T) {
	s := merge.Snapshot{Checks: []merge.Check{{Kind: "run", Name: "build", ID: 1}, {Kind: "run", Name: rules.GatesCheck, ID: 2}, {Kind: "status", Name: rules.GatesCheck}, {Kind: "run", Name: rules.GatesCheck, ID: 3}}}
	if id := ownCheck(&s); id != 3 || len(s.Checks) != 2 || s.Checks[1].Kind != "status" {
		t.Errorf("%d is left of %+v", id, s.Checks)
	}
	if id := ownCheck(&s); id != 0 {
		t.Errorf("there is %d", id)
	}
}

// gates are the checks of ours on a commit.
func (s *tale) gates(commit string) (all []object) {
	s.w.Helper()
	for _, row := range s.w.ann.do("GET", "/commits/"+commit+"/check-runs?filter=all", nil)["check_runs"].([]any) {
		if run := row.(object); run["name"] == rules.GatesCheck {
			all = append(all, run)
		}
	}
	return all
}

func TestTheGatesAreACheckOfTheHead(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	w.bob.status(s.head(), "success")
	s.told()
	runs := s.gates(s.head())
	if len(runs) != 1 || runs[0]["conclusion"] != "neutral" {
		t.Fatalf("the checks are %v", runs)
	}
	text := fmt.Sprint(runs[0]["output"].(object)["summary"])
	for _, g := range []string{merge.GateOpen, merge.GateNotDraft, merge.GateHeadIsOurs, merge.GateMergeable, merge.GateBaseFresh, merge.GateRequiredChecks,
		merge.GateNoFailingChecks, merge.GateApprovals, merge.GateNoChangesRequested, merge.GateThreadsResolved, merge.GateNoHold, merge.GateMethodAllowed,
		merge.GateAcceptance, gateAnswered} {
		if !strings.Contains(text, "| `"+g+"` | ") {
			t.Errorf("%s is not in\n%s", g, text)
		}
	}
	if !strings.Contains(text, "| `approvals` | pending |") {
		t.Errorf("of approvals it says\n%s", text)
	}
	w.ann.approve(s.pull)
	s.tell()
	s.reaches("merged")
	if now := s.gates(s.head()); len(now) != 1 || now[0]["id"] != runs[0]["id"] || now[0]["conclusion"] != "success" {
		t.Errorf("the checks are %v", now)
	}
}

func TestAForgeThatTakesNoCheckOfOursMergesAllTheSame(t *testing.T) {
	w := newEnv(t)
	tries := new(atomic.Int64)
	w.forge.Fail(func(r *http.Request) *localforge.Fault {
		if r.Method == http.MethodGet || !strings.Contains(r.URL.Path, "/check-runs") {
			return nil
		}
		tries.Add(1)
		return &localforge.Fault{Status: http.StatusForbidden}
	})
	s := w.begin("US-1", 0).proposed()
	w.bob.status(s.head(), "success")
	w.ann.approve(s.pull)
	s.tell()
	s.reaches("merged")
	if n := tries.Load(); n != 1 || len(s.gates(s.head())) != 0 {
		t.Errorf("it was tried %d times", n)
	}
}
