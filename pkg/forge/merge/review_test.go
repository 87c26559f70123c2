package merge_test

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/merge"
)

func reviews(r ...merge.Review) func(*merge.Snapshot) {
	return func(s *merge.Snapshot) { s.Reviews = r }
}

func protected(p merge.Protection, world func(*merge.Snapshot)) func(*merge.Snapshot) {
	return func(s *merge.Snapshot) {
		world(s)
		s.Protection = p
	}
}

func TestApprovals(t *testing.T) {
	approved := reviews(review(1, ada, "APPROVED", head, 10))
	two := func(r *merge.Rules) { r.Approvals = 2 }
	stale := func(r *merge.Rules) { r.StaleApprovals = true }
	decided := func(decision string) func(*merge.Snapshot) {
		return func(s *merge.Snapshot) { s.Decision = decision }
	}
	hold(t, merge.GateApprovals, []one{
		{"one of one passes", approved, nil, merge.Pass, "1 of 1"},
		{"none is waited for", reviews(), nil, merge.Pending, "0 of 1"},
		{"none passes where the rules say so", reviews(), func(r *merge.Rules) { r.Unreviewed = true }, merge.Pass, "0 of 0"},
		{"unless the branch asks for one", protected(merge.Protection{Approvals: 1}, reviews()), func(r *merge.Rules) { r.Unreviewed = true }, merge.Pending, "0 of 1"},
		{"the branch may ask for more than we do", protected(merge.Protection{Approvals: 2}, approved), nil, merge.Pending, "1 of 2"},
		{"and we for more than the branch", protected(merge.Protection{Approvals: 1}, approved), two, merge.Pending, "1 of 2"},
		{"two people are two", reviews(review(1, ada, "APPROVED", head, 10), review(2, bob, "APPROVED", head, 11)), two, merge.Pass, "2 of 2"},
		{"one person twice is one", reviews(review(1, ada, "APPROVED", head, 10), review(2, ada, "APPROVED", head, 11)), two, merge.Pending, "1 of 2"},

		{"a dismissed one does not count", reviews(review(1, ada, "DISMISSED", head, 10)), nil, merge.Pending, "0 of 1"},
		{"nor is an older one revived by that", reviews(review(1, ada, "APPROVED", head, 10), review(2, ada, "DISMISSED", head, 11)), nil, merge.Pending, ""},
		{"but a newer one counts", reviews(review(1, ada, "DISMISSED", head, 10), review(2, ada, "APPROVED", head, 11)), nil, merge.Pass, ""},
		{"a later request for changes ends it", reviews(review(1, ada, "APPROVED", head, 10), review(2, ada, "CHANGES_REQUESTED", head, 11)), nil, merge.Pending, ""},
		{"a later approval ends the request", reviews(review(1, ada, "CHANGES_REQUESTED", head, 10), review(2, ada, "APPROVED", head, 11)), nil, merge.Pass, ""},
		{"a later comment does not end it", reviews(review(1, ada, "APPROVED", head, 10), review(2, ada, "COMMENTED", head, 11)), nil, merge.Pass, ""},
		{"a draft of a review is none", reviews(review(1, ada, "PENDING", head, 10)), nil, merge.Pending, ""},

		{"the author's does not count", func(s *merge.Snapshot) { s.Author = ada }, nil, merge.Pending, "0 of 1"},
		{"nor ours", reviews(review(1, bot, "APPROVED", head, 10)), nil, merge.Pending, ""},
		{"nor another bot's", reviews(review(1, merge.Person{ID: 9, Bot: true, Permission: "write"}, "APPROVED", head, 10)), nil, merge.Pending, ""},
		{"unless it is listed", reviews(review(1, merge.Person{ID: 9, Bot: true, Permission: "write"}, "APPROVED", head, 10)), func(r *merge.Rules) { r.Bots = []int64{9} }, merge.Pass, ""},
		{"nor that of an account that is gone", reviews(review(1, merge.Person{Permission: "write"}, "APPROVED", head, 10)), nil, merge.Pending, ""},
		{"nor that of who may only read", reviews(review(1, max, "APPROVED", head, 10)), nil, merge.Pending, ""},
		{"that of who may do nobody knows what", reviews(review(1, eve, "APPROVED", head, 10)), nil, merge.Unknown, "0 of 1"},
		{"which does not matter where there are enough", reviews(review(1, eve, "APPROVED", head, 10), review(2, ada, "APPROVED", head, 11)), nil, merge.Pass, "1 of 1"},
		{"people are told apart by id, not by login", reviews(review(1, ada, "APPROVED", head, 10), review(2, merge.Person{ID: 8, Login: "ada", Permission: "write"}, "APPROVED", head, 11)), two, merge.Pass, ""},

		{"that of an earlier commit is stale", reviews(review(1, ada, "APPROVED", older, 10)), nil, merge.Pending, ""},
		{"unless the rules take it", reviews(review(1, ada, "APPROVED", older, 10)), stale, merge.Pass, ""},
		{"but not against the branch's own", protected(merge.Protection{DismissStale: true}, reviews(review(1, ada, "APPROVED", older, 10))), stale, merge.Pending, ""},
		{"that of a person who is asked again does not count", func(s *merge.Snapshot) { s.Requested = []int64{ada.ID} }, nil, merge.Pending, "0 of 1"},
		{"that of others does", func(s *merge.Snapshot) { s.Requested = []int64{bob.ID} }, nil, merge.Pass, ""},
		{"one from before the base was changed is stale", func(s *merge.Snapshot) { s.Retargeted = s.Reviews[0].At }, nil, merge.Pending, "0 of 1"},
		{"also unless the rules take it", func(s *merge.Snapshot) { s.Retargeted = s.Reviews[0].At }, stale, merge.Pass, ""},
		{"one from after that counts", func(s *merge.Snapshot) { s.Retargeted = s.Reviews[0].At.Add(-time.Second) }, nil, merge.Pass, ""},
		{"who pushed last does not approve if the branch says so", protected(merge.Protection{LastPush: true}, func(s *merge.Snapshot) { s.Pushes[0].By = ada }), nil, merge.Pending, ""},
		{"others do", protected(merge.Protection{LastPush: true}, approved), nil, merge.Pass, ""},
		{"a last push nobody knows leaves it open", protected(merge.Protection{LastPush: true}, func(s *merge.Snapshot) { s.Pushes = nil }), nil, merge.Unknown, ""},

		{"the forge's demand for another's counts", decided("REVIEW_REQUIRED"), nil, merge.Pending, "demands another's"},
		{"and names code owners", protected(merge.Protection{CodeOwners: true}, decided("REVIEW_REQUIRED")), nil, merge.Pending, "code owner"},
		{"its approval passes", decided("APPROVED"), nil, merge.Pass, ""},
		{"but does not stand in for one of ours", func(s *merge.Snapshot) { s.Decision, s.Reviews = "APPROVED", nil }, nil, merge.Pending, ""},
		{"its word of tomorrow is not known", decided("PERHAPS"), nil, merge.Unknown, "PERHAPS"},
		{"reviews that cannot be read", func(s *merge.Snapshot) { s.Unread = []merge.Unread{{Part: merge.PartReviews, Why: "502"}} }, nil, merge.Unknown, "502"},
	})
}

func TestApprovalsAreShownWithWhyTheyDoNotCount(t *testing.T) {
	s := ready()
	s.Reviews = []merge.Review{review(1, max, "APPROVED", head, 1), review(2, bob, "APPROVED", older, 2), review(3, ada, "DISMISSED", head, 3), review(4, bot, "APPROVED", head, 4)}
	want := []string{"max: approved, but may only read", "bob: approved 0000000, an earlier commit", "ada: dismissed", "rob[bot]: approved, but is the author"}
	got := merge.Assess(s, rules()).Gate(merge.GateApprovals).Evidence
	for at, e := range got {
		if at >= len(want) || e.What+": "+e.Says != want[at] {
			t.Errorf("evidence %d = %+v", at, e)
		}
	}
	if len(got) != len(want) {
		t.Errorf("evidence = %+v", got)
	}
}

func TestNoChangesRequested(t *testing.T) {
	hold(t, merge.GateNoChangesRequested, []one{
		{"nobody does", nil, nil, merge.Pass, "nobody"},
		{"a person does", reviews(review(1, ada, "CHANGES_REQUESTED", head, 10)), nil, merge.Fail, "requested by ada"},
		{"of an earlier commit as well", reviews(review(1, ada, "CHANGES_REQUESTED", older, 10)), nil, merge.Fail, "ada"},
		{"a review that is requested again does not end that", func(s *merge.Snapshot) {
			s.Reviews, s.Requested = []merge.Review{review(1, ada, "CHANGES_REQUESTED", head, 10)}, []int64{ada.ID}
		}, nil, merge.Fail, "ada"},
		{"another's approval does not end that", reviews(review(1, ada, "CHANGES_REQUESTED", head, 10), review(2, bob, "APPROVED", head, 11)), nil, merge.Fail, "ada"},
		{"their own does", reviews(review(1, ada, "CHANGES_REQUESTED", head, 10), review(2, ada, "APPROVED", head, 11)), nil, merge.Pass, ""},
		{"a dismissal does", reviews(review(1, ada, "DISMISSED", head, 10)), nil, merge.Pass, ""},
		{"who may only read is heard, but blocks nothing", reviews(review(1, max, "CHANGES_REQUESTED", head, 10)), nil, merge.Pass, ""},
		{"who may do nobody knows what", reviews(review(1, eve, "CHANGES_REQUESTED", head, 10)), nil, merge.Unknown, "eve"},
		{"the forge's own word counts", func(s *merge.Snapshot) { s.Decision = "CHANGES_REQUESTED" }, nil, merge.Fail, "as the forge has it"},
		{"reviews that cannot be read", func(s *merge.Snapshot) { s.Unread = []merge.Unread{{Part: merge.PartReviews}} }, nil, merge.Unknown, "reviews"},
	})
}

func TestThreadsResolved(t *testing.T) {
	threads := func(s *merge.Snapshot) {
		s.Threads = []merge.Thread{{ID: "T1", Resolved: true}, {ID: "T2", Path: "a.go", Line: 3}}
	}
	open := func(r *merge.Rules) { r.OpenThreads = true }
	hold(t, merge.GateThreadsResolved, []one{
		{"none is open", nil, nil, merge.Pass, "all 0"},
		{"one is open", threads, nil, merge.Fail, "1 of 2"},
		{"an outdated one is open too", func(s *merge.Snapshot) { s.Threads = []merge.Thread{{ID: "T1", Outdated: true}} }, nil, merge.Fail, "1 of 1"},
		{"one may be, if the rules say so", threads, open, merge.Pass, "may stay open"},
		{"unless the branch forbids it", protected(merge.Protection{Threads: true}, threads), open, merge.Fail, ""},
		{"conversations that cannot be read", func(s *merge.Snapshot) { s.Unread = []merge.Unread{{Part: merge.PartReviewState, Why: "401"}} }, nil, merge.Unknown, "401"},
		{"a branch's demand that cannot be read", func(s *merge.Snapshot) { s.Unread = []merge.Unread{{Part: merge.PartProtection, Why: "403"}} }, open, merge.Unknown, "403"},
	})
}
