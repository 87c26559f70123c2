package merge_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/forge/merge"
)

func of[T any](values ...T) *rapid.Generator[T] { return rapid.SampledFrom(values) }

// some is a subset of the values.
func some[T any](t *rapid.T, label string, values ...T) []T {
	var out []T
	for _, v := range values {
		if rapid.Bool().Draw(t, label) {
			out = append(out, v)
		}
	}
	return out
}

// world is any world, passing more often than chance would have it.
func assessment(t *rapid.T) (merge.Snapshot, merge.Rules) {
	s, r := ready(), rules()
	flaw := func(what string) bool { return rapid.IntRange(0, 5).Draw(t, what) == 0 }
	persons := of(ada, bob, max, eve, bot)
	minute := rapid.IntRange(0, 59)
	if flaw("state") {
		s.State = of("open", "closed", "?").Draw(t, "state")
		s.Draft, s.Merged = rapid.Bool().Draw(t, "draft"), rapid.Bool().Draw(t, "merged")
	}
	if flaw("mergeable") {
		s.Mergeable = of(nil, &yes, &no).Draw(t, "mergeable")
		s.MergeableState = of("clean", "unstable", "blocked", "behind", "dirty", "draft", "unknown").Draw(t, "state")
		s.Behind = rapid.IntRange(0, 2).Draw(t, "behind")
	}
	if flaw("head") {
		s.Moved, s.HeadRepo = of("", older).Draw(t, "moved"), of("acme/widgets", "").Draw(t, "repo")
	}
	if rapid.Bool().Draw(t, "protection") {
		s.Protection = merge.Protection{
			Checks: some(t, "required", merge.RequiredCheck{Name: "build"}, merge.RequiredCheck{Name: "lint"}, merge.RequiredCheck{Name: "build", App: 7}),
			Strict: flaw("strict"), Approvals: rapid.IntRange(0, 2).Draw(t, "approvals"), DismissStale: flaw("dismiss"),
			LastPush: flaw("last"), Threads: flaw("threads"), Linear: flaw("linear"), Queue: flaw("queue"),
			Methods: of(nil, []string{"merge"}, []string{"squash", "merge"}).Draw(t, "methods"),
		}
	}
	for n := range rapid.IntRange(0, 3).Draw(t, "checks") {
		s.Checks = append(s.Checks, merge.Check{
			Name: of("build", "lint", "e2e").Draw(t, "check"), Kind: of("run", "status").Draw(t, "kind"), App: of(int64(0), 7).Draw(t, "app"),
			State: of("success", "success", "neutral", "failure", "pending", "?").Draw(t, "state"), At: after(n),
		})
	}
	for n := range rapid.IntRange(0, 4).Draw(t, "reviews") {
		state := of("APPROVED", "APPROVED", "COMMENTED", "CHANGES_REQUESTED", "DISMISSED").Draw(t, "verdict")
		s.Reviews = append(s.Reviews, worded(review(int64(n+10), persons.Draw(t, "by"), state, of(head, older).Draw(t, "commit"), minute.Draw(t, "at")), of("", "Hm.").Draw(t, "body")))
	}
	for n := range rapid.IntRange(0, 4).Draw(t, "comments") {
		c := said(int64(n), persons.Draw(t, "by"), "?", minute.Draw(t, "at"))
		c.Path = of("", "a.go").Draw(t, "path")
		s.Comments = append(s.Comments, c)
	}
	for n := range rapid.IntRange(0, 2).Draw(t, "threads") {
		s.Threads = append(s.Threads, merge.Thread{ID: of("T1", "T2", "T3").Draw(t, "id"), Resolved: !flaw("open"), Comments: []int64{int64(n)}})
	}
	for range rapid.IntRange(0, 2).Draw(t, "pushes") {
		s.Pushes = append(s.Pushes, merge.Push{After: of(head, older).Draw(t, "after"), By: of(bot, bot, ada).Draw(t, "by"), At: after(minute.Draw(t, "at"))})
	}
	s.Decision = of("", "APPROVED", "APPROVED", "REVIEW_REQUIRED", "CHANGES_REQUESTED").Draw(t, "decision")
	s.Labels, s.Methods = some(t, "label", "bug", "ui"), some(t, "method", "merge", "squash", "rebase", "squash")
	if flaw("acceptance") {
		s.Acceptance = merge.Acceptance{Commit: of("", head, older).Draw(t, "tested"), Verdict: of(merge.Pass, merge.Fail, "").Draw(t, "accepted")}
	}
	for _, p := range some(t, "unread", parts...) {
		if flaw("unread") {
			s.Unread = append(s.Unread, merge.Unread{Part: p, Why: "502"})
		}
	}
	r.Unreviewed, r.StaleApprovals, r.ForeignCommits = rapid.Bool().Draw(t, "unreviewed"), rapid.Bool().Draw(t, "stale"), rapid.Bool().Draw(t, "foreign")
	r.RequiredOnly, r.AllowNoChecks, r.OpenThreads = rapid.Bool().Draw(t, "only"), rapid.Bool().Draw(t, "none"), rapid.Bool().Draw(t, "open")
	r.Fresh, r.Checks, r.OwnChecks = flaw("fresh"), some(t, "ours", "lint"), some(t, "own", "e2e")
	return s, r
}

var parts = []merge.Part{
	merge.PartProtection, merge.PartChecks, merge.PartReviews, merge.PartReviewState, merge.PartComments, merge.PartPushes, merge.PartBase, merge.PartQueue,
}

func shuffle[T any](t *rapid.T, rows []T) []T {
	if len(rows) == 0 {
		return rows
	}
	return rapid.Permutation(rows).Draw(t, "order")
}

func TestTheOrderThingsWereReadInDecidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, r := assessment(t)
		other := s
		other.Checks, other.Reviews, other.Threads = shuffle(t, s.Checks), shuffle(t, s.Reviews), shuffle(t, s.Threads)
		other.Comments, other.Pushes, other.Labels = shuffle(t, s.Comments), shuffle(t, s.Pushes), shuffle(t, s.Labels)
		other.Methods, other.Unread, other.Protection.Checks = shuffle(t, s.Methods), shuffle(t, s.Unread), shuffle(t, s.Protection.Checks)
		if a, b := merge.Assess(s, r), merge.Assess(other, r); !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v\n%+v", a, b)
		}
		if a, b := merge.Activity(s), merge.Activity(other); !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v\n%+v", a, b)
		}
	})
}

// TestWhatIsNotKnownNeverHelps takes knowledge away from any world, and as often from one that passes: few
// worlds do that are drawn.
func TestWhatIsNotKnownNeverHelps(t *testing.T) {
	if got := merge.Assess(ready(), rules()); got.Verdict != merge.Pass {
		t.Fatalf("a world that is ready does not pass: %+v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		s, r := assessment(t)
		if rapid.Bool().Draw(t, "ready") {
			s, r = ready(), rules()
		}
		less := s
		less.Checks, less.Reviews = append([]merge.Check{}, s.Checks...), append([]merge.Review{}, s.Reviews...)
		switch what := rapid.IntRange(0, 5).Draw(t, "what"); {
		case what == 0:
			less.Mergeable, less.MergeableState = nil, "unknown"
		case what == 1 && len(s.Checks) > 0:
			less.Checks[rapid.IntRange(0, len(s.Checks)-1).Draw(t, "check")].State = "?"
		case what == 2 && len(s.Reviews) > 0:
			less.Reviews[rapid.IntRange(0, len(s.Reviews)-1).Draw(t, "review")].By.Permission = ""
		case what == 3:
			less.Moved = older
		default:
			less.Unread = append([]merge.Unread{{Part: of(parts...).Draw(t, "part"), Why: "502"}}, s.Unread...)
		}
		before, now := merge.Assess(s, r), merge.Assess(less, r)
		for at, g := range now.Gates {
			if g.Verdict == merge.Pass && before.Gates[at].Verdict != merge.Pass {
				t.Fatalf("%s passes because %q; with more known it was %+v", g.Name, g.Reason, before.Gates[at])
			}
		}
		if now.Verdict == merge.Pass && before.Verdict != merge.Pass {
			t.Fatalf("it passes: %+v", now)
		}
	})
}

// TestWhatPassesHasEverythingOnOneCommit restates the rules as plainly as can be.
func TestWhatPassesHasEverythingOnOneCommit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, r := assessment(t)
		report := merge.Assess(s, r)
		if report.Verdict != merge.Pass {
			return
		}
		if s.State != "open" || s.Draft || s.Merged || s.Moved != "" || s.Mergeable == nil || !*s.Mergeable || report.Head != s.Head ||
			s.Acceptance.Commit != s.Head || s.Acceptance.Verdict != merge.Pass || s.Decision == "REVIEW_REQUIRED" || s.Decision == "CHANGES_REQUESTED" {
			t.Fatalf("%+v passes", s)
		}
		for _, g := range report.Gates {
			if g.Verdict != merge.Pass || g.Reason == "" {
				t.Fatalf("gate %+v", g)
			}
		}
		for _, c := range s.Checks {
			if c.State == "failure" && c.Name == "build" && !r.RequiredOnly {
				t.Fatalf("%+v is red", c)
			}
		}
		if report.ReadAt != s.ReadAt || s.ReadAt.Sub(noon) != time.Hour {
			t.Fatalf("read at %v", report.ReadAt)
		}
	})
}
