package merge_test

import (
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/merge"
)

func checks(c ...merge.Check) func(*merge.Snapshot) {
	return func(s *merge.Snapshot) { s.Checks = c }
}

func run(name, state string) merge.Check { return merge.Check{Name: name, Kind: "run", State: state} }
func status(name, state string) merge.Check {
	return merge.Check{Name: name, Kind: "status", State: state}
}

func by(app int64, c merge.Check) merge.Check {
	c.App = app
	return c
}

func TestRequiredChecks(t *testing.T) {
	requires := func(app int64, c ...merge.Check) func(*merge.Snapshot) {
		return func(s *merge.Snapshot) {
			s.Protection.Checks, s.Checks = []merge.RequiredCheck{{Name: "ci", App: app}}, c
		}
	}
	unread := func(p merge.Part) func(*merge.Snapshot) {
		return func(s *merge.Snapshot) { s.Unread = []merge.Unread{{Part: p, Why: "403"}} }
	}
	hold(t, merge.GateRequiredChecks, []one{
		{"green passes", requires(0, run("ci", "success")), nil, merge.Pass, "all 1"},
		{"neutral passes", requires(0, run("ci", "neutral")), nil, merge.Pass, ""},
		{"skipped passes", requires(0, run("ci", "skipped")), nil, merge.Pass, ""},
		{"absent is awaited", requires(0, run("other", "success")), nil, merge.Pending, "awaited: ci"},
		{"absent altogether is awaited", requires(0), func(r *merge.Rules) { r.AllowNoChecks = true }, merge.Pending, "awaited: ci"},
		{"queued is awaited", requires(0, run("ci", "queued")), nil, merge.Pending, "ci"},
		{"stale is awaited", requires(0, run("ci", "stale")), nil, merge.Pending, "ci"},
		{"red fails", requires(0, run("ci", "failure")), nil, merge.Fail, "not green: ci"},
		{"a human's action is red", requires(0, run("ci", "action_required")), nil, merge.Fail, "ci"},
		{"cancelled is red", requires(0, run("ci", "cancelled")), nil, merge.Fail, "ci"},
		{"an erring status is red", requires(0, status("ci", "error")), nil, merge.Fail, "ci"},
		{"a word of tomorrow is not known", requires(0, run("ci", "postponed")), nil, merge.Unknown, "ci"},
		{"status and run of a name must both be green", requires(0, run("ci", "success"), status("ci", "pending")), nil, merge.Pending, "ci"},
		{"the worst of several apps counts", requires(0, by(8, run("ci", "success")), by(9, run("ci", "failure"))), nil, merge.Fail, "ci"},
		{"unless the rule names one", requires(8, by(8, run("ci", "success")), by(9, run("ci", "failure"))), nil, merge.Pass, ""},
		{"which then must be it", requires(8, by(9, run("ci", "success"))), nil, merge.Pending, "ci"},
		{"our configuration requires too", nil, func(r *merge.Rules) { r.Checks = []string{"lint"} }, merge.Pending, "awaited: lint"},
		{"our own check is not waited for", requires(0), func(r *merge.Rules) { r.OwnChecks = []string{"ci"} }, merge.Pass, ""},
		{"requirements that cannot be read", unread(merge.PartProtection), nil, merge.Unknown, "protection could not be read: 403"},
		{"checks that cannot be read", unread(merge.PartChecks), nil, merge.Unknown, "checks could not be read: 403"},
	})
}

func TestNoFailingChecks(t *testing.T) {
	allow := func(r *merge.Rules) { r.AllowNoChecks = true }
	pushed := func(ago time.Duration) func(*merge.Snapshot) {
		return func(s *merge.Snapshot) { s.Checks, s.Pushes[0].At = nil, s.ReadAt.Add(-ago) }
	}
	hold(t, merge.GateNoFailingChecks, []one{
		{"all green passes", checks(run("a", "success"), status("b", "success")), nil, merge.Pass, "all 2"},
		{"one red fails", checks(run("a", "success"), run("b", "timed_out")), nil, merge.Fail, "not green: b"},
		{"one running is awaited", checks(run("a", "in_progress")), nil, merge.Pending, "awaited: a"},
		{"red decides before running", checks(run("a", "in_progress"), run("b", "failure")), nil, merge.Fail, "not green: b"},
		{"what is not required may be red if the rules say so", checks(run("a", "failure")), func(r *merge.Rules) { r.RequiredOnly = true }, merge.Pass, "required"},
		{"our own check does not count", checks(run("a", "success"), run("signalbox", "pending")), func(r *merge.Rules) { r.OwnChecks = []string{"signalbox"} }, merge.Pass, "all 1"},
		{"none at all is not green", checks(), nil, merge.Pending, "no check has reported yet"},
		{"nor is our own alone", checks(run("signalbox", "success")), func(r *merge.Rules) { r.OwnChecks = []string{"signalbox"} }, merge.Pending, "no check"},
		{"nor when only the required count", checks(), func(r *merge.Rules) { r.RequiredOnly = true }, merge.Pending, "no check"},
		{"none right after a push is not green although allowed", pushed(89 * time.Second), allow, merge.Pending, "another 1s"},
		{"none for long is, if allowed", pushed(90 * time.Second), allow, merge.Pass, "no check has reported in 1m30s"},
		{"for as long as configured", pushed(90 * time.Second), func(r *merge.Rules) { r.AllowNoChecks, r.Dwell = true, time.Hour }, merge.Pending, "58m30s"},
		{"none since a push nobody knows", func(s *merge.Snapshot) { s.Checks, s.Pushes = nil, nil }, allow, merge.Unknown, "not known"},
		{"none since a push that cannot be read", func(s *merge.Snapshot) {
			s.Checks, s.Unread = nil, []merge.Unread{{Part: merge.PartPushes, Why: "404"}}
		}, allow, merge.Unknown, "404"},
		{"checks that cannot be read", func(s *merge.Snapshot) { s.Unread = []merge.Unread{{Part: merge.PartChecks, Why: "502"}} }, allow, merge.Unknown, "502"},
	})
}

func TestChecksAreShownWithTheirDetails(t *testing.T) {
	s := ready()
	s.Checks = []merge.Check{{Name: "ci", Kind: "run", State: "failure", Note: "2 of 9 failed", URL: "https://ci.example.test/1"}}
	got := merge.Assess(s, rules()).Gate(merge.GateNoFailingChecks).Evidence
	if want := (merge.Evidence{What: "run ci", Says: "failure: 2 of 9 failed", URL: "https://ci.example.test/1"}); len(got) != 1 || got[0] != want {
		t.Errorf("evidence = %+v, want %+v", got, want)
	}
}

func TestOnlyWhatAChangeMayMendIsFailing(t *testing.T) {
	red := func(name, state string) merge.Check { return merge.Check{Name: name, Kind: "run", State: state} }
	s := merge.Snapshot{Checks: []merge.Check{red("build", "failure"), red("lint", "error"), red("slow", "timed_out"), red("ours", "failure"),
		red("stopped", "cancelled"), red("asks", "action_required"), red("runs", "in_progress"), red("fine", "success")}}
	s.Protection.Checks = []merge.RequiredCheck{{Name: "build"}}
	for name, c := range map[string]struct {
		rules merge.Rules
		want  []string
	}{
		"all that are red":     {merge.Rules{OwnChecks: []string{"ours"}}, []string{"build", "lint", "slow"}},
		"those that are asked": {merge.Rules{RequiredOnly: true, Checks: []string{"lint"}}, []string{"build", "lint"}},
	} {
		var got []string
		for _, check := range merge.Failing(s, c.rules) {
			got = append(got, check.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
