package forge_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/forge/merge"
	"github.com/signalbox/signalbox/pkg/localforge"
)

// TestTheWorldIsJudgedAsItIs goes the whole way from a forge over HTTP to the
// verdict of a gate.
func TestTheWorldIsJudgedAsItIs(t *testing.T) {
	for _, tc := range []struct {
		what    string
		prepare func(*env)
		gate    string // the one that decides; empty when all pass
		want    merge.Verdict
		says    string
	}{
		{"approved and green", func(*env) {}, "", merge.Pass, ""},
		{"approval later dismissed", func(w *env) {
			reviews, err := w.Reviews(w.t.Context(), repo, 1)
			w.must(err)
			w.do("ada", "PUT", "/pulls/1/reviews/"+strconv.FormatInt(reviews[0].ID, 10)+"/dismissals", `{"message":"Too soon."}`)
		}, merge.GateApprovals, merge.Pending, "0 of 1"},
		{"approval followed by a request for changes", func(w *env) { w.review("ada", "REQUEST_CHANGES", "No.") }, merge.GateNoChangesRequested, merge.Fail, "ada"},
		{"stale approval after a push", func(w *env) {
			w.head = w.push("rob", "story/1", "b.txt", "two\n")
			w.report("ci", "success")
		}, merge.GateApprovals, merge.Pending, "0 of 1"},
		{"approval of a person who is asked again", func(w *env) { w.do("rob", "POST", "/pulls/1/requested_reviewers", `{"reviewers":["ada"]}`) },
			merge.GateApprovals, merge.Pending, "0 of 1"},
		{"approval from before the base was changed", func(w *env) {
			w.push("ada", "release", "b.txt", "release\n")
			w.do("ada", "PATCH", "/pulls/1", `{"base":"release"}`)
		}, merge.GateApprovals, merge.Pending, "0 of 1"},
		{"checks pending", func(w *env) { w.report("e2e", "pending") }, merge.GateNoFailingChecks, merge.Pending, "awaited: e2e"},
		{"checks failing", func(w *env) { w.report("e2e", "failure") }, merge.GateNoFailingChecks, merge.Fail, "not green: e2e"},
		{"checks neutral", func(w *env) {
			w.do("rob", "POST", "/check-runs", `{"name":"e2e","head_sha":"`+w.head+`","conclusion":"neutral"}`)
		}, "", merge.Pass, ""},
		{"a required check absent", func(w *env) {
			w.do("ada", "PUT", "/branches/main/protection", `{"required_status_checks":{"strict":false,"contexts":["e2e"]}}`)
		}, merge.GateRequiredChecks, merge.Pending, "awaited: e2e"},
		{"a conflict", func(w *env) { w.push("ada", "main", "a.txt", "another\n") }, merge.GateMergeable, merge.Fail, "conflicts with main"},
		{"behind a strict base", func(w *env) {
			w.do("ada", "POST", "/rulesets", `{"name":"x","enforcement":"active","conditions":{"ref_name":{"include":["~DEFAULT_BRANCH"]}},"rules":[
				{"type":"required_status_checks","parameters":{"required_status_checks":[{"context":"ci"}],"strict_required_status_checks_policy":true}}]}`)
			w.push("ada", "main", "b.txt", "aside\n")
		}, merge.GateBaseFresh, merge.Fail, "lacks 1 commits"},
		{"a human's push to our branch", func(w *env) {
			w.head = w.push("bob", "story/1", "b.txt", "mine\n")
			w.green()
		}, merge.GateHeadIsOurs, merge.Fail, "bob pushed"},
		{"a conversation open", func(w *env) {
			w.do("ada", "POST", "/pulls/1/comments", `{"body":"One?","path":"a.txt","line":1}`)
		}, merge.GateThreadsResolved, merge.Fail, "1 of 1"},
		{"a label that holds", func(w *env) { w.must(w.AddLabels(w.t.Context(), repo, 1, []string{"hold"})) }, merge.GateNoHold, merge.Fail, "label"},
		{"a method that is not allowed", func(w *env) {
			w.do("ada", "PATCH", "", `{"allow_squash_merge":false,"allow_rebase_merge":false}`)
		}, merge.GateMethodAllowed, merge.Fail, "none of squash"},
		{"closed unmerged", func(w *env) { w.do("ada", "PATCH", "/pulls/1", `{"state":"closed"}`) }, merge.GateOpen, merge.Fail, "without a merge"},
	} {
		t.Run(tc.what, func(t *testing.T) {
			w := newEnv(t)
			w.green()
			tc.prepare(w)
			s := w.observe()
			report := merge.Assess(s, merge.Rules{Branch: "story/1", Holds: []string{"hold"}, Methods: []string{"squash"}})
			if len(s.Unread) > 0 || s.Moved != "" || s.Head != w.head {
				t.Errorf("unread %v, moved %q, head %s", s.Unread, s.Moved, s.Head)
			}
			if tc.gate == "" {
				if report.Verdict != merge.Pass {
					t.Errorf("open gates: %+v", report.Open())
				}
				return
			}
			if g := report.Gate(tc.gate); g.Verdict != tc.want || !strings.Contains(g.Reason, tc.says) || report.Verdict == merge.Pass {
				t.Errorf("gate = %+v of %s", g, report.Verdict)
			}
		})
	}
}

func TestAuthorsApprovalDoesNotCount(t *testing.T) {
	w := newEnv(t)
	w.push("bob", "bobs", "b.txt", "two\n")
	w.do("bob", "POST", "/pulls", `{"title":"Bob's","head":"bobs","base":"main"}`)
	what := w.observation()
	what.Number = 2
	s, err := forge.Observe(t.Context(), w.Client, what)
	w.must(err)
	// GitHub refuses it; a forge that does not must not be trusted with it.
	s.Reviews = []merge.Review{{ID: 1, By: s.Author, State: "APPROVED", Commit: s.Head}}
	if g := merge.Assess(s, merge.Rules{Branch: "bobs"}).Gate(merge.GateApprovals); s.Author.Login != "bob" || g.Verdict != merge.Pending {
		t.Errorf("gate = %+v", g)
	}
}

func TestWhoseTurnItIs(t *testing.T) {
	w := newEnv(t)
	turn := func() merge.LastActivity { return merge.Activity(w.observe()) }
	if got := turn(); got.Who != merge.Bot || len(got.New) != 0 {
		t.Errorf("after our push: %+v", got)
	}
	w.review("max", "COMMENT", "Nobody asked me.")
	w.review("bob", "APPROVE", "")
	if got := turn(); got.Who != merge.Bot {
		t.Errorf("after an outsider's comment and an approval: %+v", got)
	}
	w.review("ada", "REQUEST_CHANGES", "Two, not one.")
	w.do("bob", "POST", "/pulls/1/comments", `{"body":"Here.","path":"a.txt","line":1}`)
	w.do("bob", "POST", "/issues/1/comments", `{"body":"And a test."}`)
	got := turn()
	if got.Who != merge.Reviewer || len(got.New) != 3 || got.New[0].Body != "Two, not one." || got.New[1].Path != "a.txt" || got.New[2].By.Login != "bob" {
		t.Errorf("after reviews: %+v", got)
	}
	w.head = w.push("rob", "story/1", "a.txt", "two\n")
	if got := turn(); got.Who != merge.Bot || len(got.New) != 0 {
		t.Errorf("after our answer: %+v", got)
	}
	if got := w.observe().Reviews[0].By; got.Login != "max" || got.Permission != "read" || got.Member != "no" {
		t.Errorf("an outsider is %+v", got)
	}
}

// TestHeadThatMovesWhileItIsRead has a human push in the middle of a reading.
func TestHeadThatMovesWhileItIsRead(t *testing.T) {
	var pushing atomic.Pointer[func()]
	w := newEnv(t, func(c *localforge.Config) {
		c.Fault = func(r *http.Request) *localforge.Fault {
			if push := pushing.Load(); push != nil && strings.HasSuffix(r.URL.Path, "/reviews") && pushing.CompareAndSwap(push, nil) {
				(*push)()
			}
			return nil
		}
	})
	w.green()
	first, second := w.head, ""
	push := func() { second = w.push("bob", "story/1", "b.txt", "mine\n") }
	pushing.Store(&push)
	s := w.observe()
	if s.Head != first || s.Moved == "" || s.Moved != second {
		t.Errorf("head %s, moved to %q, want %s and %s", s.Head, s.Moved, first, second)
	}
	report := merge.Assess(s, merge.Rules{Branch: "story/1"})
	if g := report.Gate(merge.GateHeadIsOurs); report.Verdict != merge.Unknown || g.Verdict != merge.Unknown {
		t.Errorf("%s: %+v", report.Verdict, g)
	}
}

// TestABaseThatChangesWhileItIsReadIsUnknown has a person choose another base in the middle of
// a reading.
func TestABaseThatChangesWhileItIsReadIsUnknown(t *testing.T) {
	var changing atomic.Pointer[func()]
	w := newEnv(t, func(c *localforge.Config) {
		c.Fault = func(r *http.Request) *localforge.Fault {
			if change := changing.Load(); change != nil && strings.HasSuffix(r.URL.Path, "/activity") && changing.CompareAndSwap(change, nil) {
				(*change)()
			}
			return nil
		}
	})
	w.green()
	w.push("ada", "release", "b.txt", "release\n")
	change := func() { w.do("ada", "PATCH", "/pulls/1", `{"base":"release"}`) }
	changing.Store(&change)
	s := w.observe()
	report := merge.Assess(s, merge.Rules{Branch: "story/1"})
	if g := report.Gate(merge.GateRequiredChecks); s.BaseRef != "release" || g.Verdict != merge.Unknown || !strings.Contains(g.Reason, "the base became release") {
		t.Errorf("of %s: %+v", s.BaseRef, g)
	}
}

func TestPartThatCannotBeReadIsUnread(t *testing.T) {
	for suffix, part := range map[string]merge.Part{
		"/rules/branches/main": merge.PartProtection, "/status": merge.PartChecks, "/check-runs": merge.PartChecks, "/reviews": merge.PartReviews,
		"/graphql": merge.PartReviewState, "/pulls/1/comments": merge.PartComments, "/issues/1/comments": merge.PartComments, "/activity": merge.PartPushes,
		"/compare/main...HEAD": merge.PartBase,
	} {
		t.Run(suffix+" is "+string(part), func(t *testing.T) {
			var w *env
			var broken atomic.Bool
			w = newEnv(t, func(c *localforge.Config) {
				c.Fault = func(r *http.Request) *localforge.Fault {
					if broken.Load() && strings.HasSuffix(r.URL.Path, strings.Replace(suffix, "HEAD", w.head, 1)) {
						return &localforge.Fault{Status: http.StatusForbidden}
					}
					return nil
				}
			})
			w.green()
			_, err := w.Account(t.Context()) // it is known before anything breaks
			w.must(err)
			broken.Store(true)
			s := w.observe()
			if len(s.Unread) != 1 || s.Unread[0].Part != part || !strings.Contains(s.Unread[0].Why, "403") {
				t.Errorf("unread = %+v", s.Unread)
			}
			if part == merge.PartChecks && len(s.Checks) > 0 {
				t.Errorf("half of the checks is known: %+v", s.Checks)
			}
			needed := part != merge.PartComments && part != merge.PartBase && part != merge.PartPushes
			if report := merge.Assess(s, merge.Rules{Branch: "story/1", Commit: w.head}); (report.Verdict == merge.Unknown) != needed {
				t.Errorf("verdict = %s: %+v", report.Verdict, report.Open())
			}
		})
	}
}

func TestMergeabilityIsWaitedFor(t *testing.T) {
	w := newEnv(t, func(c *localforge.Config) { c.Computing = 3 }) // once when it was opened
	w.green()
	for _, want := range []merge.Verdict{merge.Unknown, merge.Pass} {
		if got := merge.Assess(w.observe(), merge.Rules{Branch: "story/1"}); got.Verdict != want {
			t.Errorf("verdict = %s, want %s: %+v", got.Verdict, want, got.Open())
		}
	}
}

func TestObservationThatCannotGoOnFails(t *testing.T) {
	w := newEnv(t)
	what := w.observation()
	what.Number = 9
	if _, err := forge.Observe(t.Context(), w.Client, what); !errors.Is(err, forge.ErrNotFound) || !strings.Contains(err.Error(), "observe acme/widgets#9") {
		t.Errorf("of nothing: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := forge.Observe(ended, w.Client, w.observation()); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	limited := newEnv(t, func(c *localforge.Config) { c.RateLimit = 8 })
	var err error
	limited.Client, err = github.New(github.Config{BaseURL: limited.url, Token: "rob", MaxWait: time.Millisecond})
	w.must(err)
	if _, err := forge.Observe(t.Context(), limited.Client, limited.observation()); !errors.Is(err, forge.ErrRateLimited) {
		t.Errorf("at a limit: %v", err)
	}
}

func TestObservationTellsWhereAndWho(t *testing.T) {
	w := newEnv(t)
	if s := w.observe(); s.HeadRepo != repo || s.HeadRef != "story/1" || s.BaseRef != "main" || !s.Self.Bot || s.Self.ID != s.Author.ID || s.ReadAt.IsZero() {
		t.Errorf("snapshot = %+v", s)
	}
}
