package merge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/merge"
)

const (
	head  = "1111111111111111111111111111111111111111"
	older = "0000000000000000000000000000000000000aaa"
)

var (
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	bot  = merge.Person{ID: 1, Login: "rob[bot]", Bot: true, Permission: "write"}
	ada  = merge.Person{ID: 2, Login: "ada", Permission: "admin", Member: "yes"}
	bob  = merge.Person{ID: 3, Login: "bob", Permission: "write", Member: "yes"}
	max  = merge.Person{ID: 4, Login: "max", Permission: "read", Member: "no"}
	eve  = merge.Person{ID: 5, Login: "eve"} // nothing is known of her
	no   = false
	yes  = true
)

// after is so many minutes past noon.
func after(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

func review(id int64, by merge.Person, state, commit string, minute int) merge.Review {
	return merge.Review{ID: id, By: by, State: state, Commit: commit, At: after(minute)}
}

// ready is a pull request that passes every gate of rules.
func ready() merge.Snapshot {
	return merge.Snapshot{
		Repo: "acme/widgets", Number: 7, ReadAt: after(60), Head: head, State: "open", HeadRef: "story/1", HeadRepo: "acme/widgets", BaseRef: "main",
		Mergeable: &yes, MergeableState: "clean", Self: bot, Author: bot, Methods: []string{"merge", "squash", "rebase"},
		Checks:     []merge.Check{{Name: "build", Kind: "run", State: "success", At: after(5)}},
		Reviews:    []merge.Review{review(1, ada, "APPROVED", head, 10)},
		Pushes:     []merge.Push{{After: head, By: bot, At: after(1)}},
		Acceptance: merge.Acceptance{Commit: head, Verdict: merge.Pass},
	}
}

func rules() merge.Rules { return merge.Rules{Branch: "story/1", Holds: []string{"hold"}} }

// one is a world that differs from the ready one, and what a gate says of it.
type one struct {
	what   string
	world  func(*merge.Snapshot)
	rules  func(*merge.Rules)
	want   merge.Verdict
	reason string // part of it
}

// hold asks the gate about every world; the verdict of all must not be better.
func hold(t *testing.T, gate string, worlds []one) {
	t.Helper()
	for _, w := range worlds {
		t.Run(w.what, func(t *testing.T) {
			s, r := ready(), rules()
			if w.world != nil {
				w.world(&s)
			}
			if w.rules != nil {
				w.rules(&r)
			}
			report := merge.Assess(s, r)
			got := report.Gate(gate)
			if got.Verdict != w.want || !strings.Contains(got.Reason, w.reason) {
				t.Errorf("%s says %s because %q, want %s because of %q", gate, got.Verdict, got.Reason, w.want, w.reason)
			}
			if report.Verdict == merge.Pass && w.want != merge.Pass {
				t.Errorf("all in all it passes: %+v", report)
			}
		})
	}
}

func TestWhatIsReadyPassesEveryGateOnOneCommit(t *testing.T) {
	report := merge.Assess(ready(), rules())
	if report.Verdict != merge.Pass || len(report.Open()) != 0 || len(report.Gates) != 13 || report.Head != head || report.Method != "squash" {
		t.Errorf("report = %+v", report)
	}
	var names []string
	for _, g := range report.Gates {
		names = append(names, g.Name)
	}
	const want = "open not-draft head-is-ours mergeable base-fresh required-checks no-failing-checks approvals " +
		"no-changes-requested threads-resolved no-hold method-allowed acceptance"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("gates = %s", got)
	}
}

func TestVerdictIsTheOneThatDecides(t *testing.T) {
	s := ready()
	s.Draft = true
	if got := merge.Assess(s, rules()).Verdict; got != merge.Pending {
		t.Errorf("of a draft: %s", got)
	}
	s.Labels = []string{"Hold"}
	if got := merge.Assess(s, rules()).Verdict; got != merge.Fail {
		t.Errorf("of a draft on hold: %s", got)
	}
	s.Mergeable = nil
	if got := merge.Assess(s, rules()).Verdict; got != merge.Unknown {
		t.Errorf("of what is not known as well: %s", got)
	}
	if got := merge.Assess(s, rules()).Gate("of dreams"); got.Verdict != merge.Unknown {
		t.Errorf("of a gate that is none: %+v", got)
	}
}

func TestZeroRulesAndAnEmptySnapshotNeverPass(t *testing.T) {
	report := merge.Assess(merge.Snapshot{}, merge.Rules{})
	for _, gate := range []string{"open", "head-is-ours", "mergeable", "no-failing-checks", "approvals", "method-allowed", "acceptance"} {
		if report.Gate(gate).Verdict == merge.Pass {
			t.Errorf("%s passes: %+v", gate, report.Gate(gate))
		}
	}
}
