package merge_test

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/forge/merge"
)

func TestOpen(t *testing.T) {
	hold(t, merge.GateOpen, []one{
		{"an open one passes", nil, nil, merge.Pass, ""},
		{"a closed one fails", func(s *merge.Snapshot) { s.State = "closed" }, nil, merge.Fail, "closed without a merge"},
		{"a merged one fails", func(s *merge.Snapshot) { s.State, s.Merged, s.MergeSHA = "closed", true, older }, nil, merge.Fail, "merged already, as 0000000"},
		{"another state is not known", func(s *merge.Snapshot) { s.State = "lost" }, nil, merge.Unknown, "lost"},
	})
	hold(t, merge.GateNotDraft, []one{
		{"a draft is waited for", func(s *merge.Snapshot) { s.Draft = true }, nil, merge.Pending, "draft"},
	})
}

func TestHeadIsOurs(t *testing.T) {
	pushedBy := func(who ...merge.Person) func(*merge.Snapshot) {
		return func(s *merge.Snapshot) {
			s.Pushes = nil
			for n, p := range who {
				s.Pushes = append(s.Pushes, merge.Push{After: head, By: p, At: after(n)})
			}
		}
	}
	unread := func(s *merge.Snapshot) {
		s.Unread = []merge.Unread{{Part: merge.PartPushes, Why: "403"}}
	}
	ours := func(r *merge.Rules) { r.Commit = head }
	hold(t, merge.GateHeadIsOurs, []one{
		{"our own push passes", nil, nil, merge.Pass, "we pushed"},
		{"the author's push is ours", func(s *merge.Snapshot) { s.Author = bob; s.Pushes[0].By = bob }, nil, merge.Pass, "we pushed"},
		{"the commit we remember passes", pushedBy(ada), ours, merge.Pass, "the commit we pushed"},
		{"and needs no record of pushes", unread, ours, merge.Pass, ""},
		{"a human's push fails", pushedBy(ada), nil, merge.Fail, "ada pushed 1111111 to our branch"},
		{"although we pushed it before", pushedBy(bot, ada), nil, merge.Fail, "ada"},
		{"unless the rules take it", pushedBy(ada), func(r *merge.Rules) { r.ForeignCommits = true }, merge.Pass, "ada"},
		{"a commit nobody is known to have pushed", pushedBy(), nil, merge.Unknown, "no push of it is on record"},
		{"pushes that cannot be read", unread, nil, merge.Unknown, "pushes could not be read: 403"},
		{"a pusher whose account is gone", pushedBy(merge.Person{}), nil, merge.Unknown, "not known"},
		{"a head that moved meanwhile", func(s *merge.Snapshot) { s.Moved = older }, ours, merge.Unknown, "moved from 1111111 to 0000000"},
		{"another branch fails", func(s *merge.Snapshot) { s.HeadRef = "story/2" }, ours, merge.Fail, "story/2"},
		{"a fork fails", func(s *merge.Snapshot) { s.HeadRepo = "eve/widgets" }, ours, merge.Fail, "eve/widgets"},
		{"a fork that is gone fails", func(s *merge.Snapshot) { s.HeadRepo = "" }, ours, merge.Fail, ""},
	})
}

func TestMergeable(t *testing.T) {
	state := func(mergeable *bool, state string) func(*merge.Snapshot) {
		return func(s *merge.Snapshot) { s.Mergeable, s.MergeableState = mergeable, state }
	}
	hold(t, merge.GateMergeable, []one{
		{"clean passes", state(&yes, "clean"), nil, merge.Pass, ""},
		{"with hooks passes", state(&yes, "has_hooks"), nil, merge.Pass, ""},
		{"unstable is for the checks to judge", state(&yes, "unstable"), nil, merge.Pass, ""},
		{"a conflict fails", state(&no, "dirty"), nil, merge.Fail, "conflicts with main"},
		{"a conflict in one of the two words fails", state(&no, "unknown"), nil, merge.Fail, "conflicts"},
		{"and in the other", state(nil, "dirty"), nil, merge.Fail, "conflicts"},
		{"null is neither true nor false", state(nil, "unknown"), nil, merge.Unknown, "being computed"},
		{"true without a state is not known", state(&yes, "unknown"), nil, merge.Unknown, "is not known"},
		{"a state of tomorrow is not known", state(&yes, "vetoed"), nil, merge.Unknown, "vetoed"},
		{"blocked is waited for", state(&yes, "blocked"), nil, merge.Pending, "a rule of main blocks it"},
		{"blocked names the rules that may", func(s *merge.Snapshot) {
			s.MergeableState, s.Protection.Others = "blocked", []string{"required_signatures"}
		}, nil, merge.Pending, "perhaps required_signatures"},
		{"what is closed is not computed", func(s *merge.Snapshot) { s.State, s.Mergeable = "closed", nil }, nil, merge.Fail, "not open"},
	})
	hold(t, merge.GateNotDraft, []one{{"a draft's state is no conflict", state(&yes, "draft"), nil, merge.Pass, ""}})
}

func TestBaseFresh(t *testing.T) {
	strict := func(s *merge.Snapshot) { s.Protection.Strict, s.Behind = true, 2 }
	hold(t, merge.GateBaseFresh, []one{
		{"behind passes where nobody minds", func(s *merge.Snapshot) { s.Behind = 2 }, nil, merge.Pass, "need not"},
		{"behind fails where the branch is strict", strict, nil, merge.Fail, "lacks 2 commits of main"},
		{"behind fails where our rules are", func(s *merge.Snapshot) { s.Behind = 1 }, func(r *merge.Rules) { r.Fresh = true }, merge.Fail, "lacks 1"},
		{"with all of the base it passes", func(s *merge.Snapshot) { s.Protection.Strict = true }, nil, merge.Pass, "has all of main"},
		{"the forge's word that it is behind counts", func(s *merge.Snapshot) { s.MergeableState = "behind" }, nil, merge.Fail, ""},
		{"strictness that cannot be read", func(s *merge.Snapshot) {
			s.Unread = []merge.Unread{{Part: merge.PartProtection, Why: "403"}}
		}, nil, merge.Unknown, "protection could not be read"},
		{"a distance that cannot be read", func(s *merge.Snapshot) {
			s.Protection.Strict, s.Unread = true, []merge.Unread{{Part: merge.PartBase, Why: "502"}}
		}, nil, merge.Unknown, "base could not be read"},
	})
}

func TestHold(t *testing.T) {
	hold(t, merge.GateNoHold, []one{
		{"nobody", nil, nil, merge.Pass, "nobody"},
		{"a label in any case", func(s *merge.Snapshot) { s.Labels = []string{"bug", "HOLD"} }, nil, merge.Fail, "label"},
		{"a command", func(s *merge.Snapshot) { s.Held = "ada said to wait for the release" }, nil, merge.Fail, "ada said"},
	})
}

func TestMethod(t *testing.T) {
	hold(t, merge.GateMethodAllowed, []one{
		{"the best that is allowed", func(s *merge.Snapshot) { s.Methods = []string{"merge"} }, nil, merge.Pass, "merge"},
		{"none that we want", func(s *merge.Snapshot) { s.Methods = []string{"merge"} }, func(r *merge.Rules) { r.Methods = []string{"rebase"} }, merge.Fail, "none of rebase"},
		{"a rule of the branch narrows", func(s *merge.Snapshot) { s.Protection.Methods = []string{"rebase"} }, nil, merge.Pass, "rebase"},
		{"to nothing, even", func(s *merge.Snapshot) { s.Protection.Methods = []string{} }, nil, merge.Fail, "none of squash, merge, rebase"},
		{"a linear history takes no merge commits", func(s *merge.Snapshot) { s.Protection.Linear = true }, func(r *merge.Rules) { r.Methods = []string{"merge"} }, merge.Fail, ""},
		{"a queue that could not be read", func(s *merge.Snapshot) {
			s.Protection.Queue, s.Unread = true, []merge.Unread{{Part: merge.PartQueue, Why: "502"}}
		}, nil, merge.Unknown, "502"},
		{"methods that cannot be read", func(s *merge.Snapshot) { s.Unread = []merge.Unread{{Part: merge.PartReviewState}} }, nil, merge.Unknown, "review state"},
	})
	s := ready()
	s.Protection.Linear = true
	if got := merge.Assess(s, merge.Rules{Methods: []string{"merge", "rebase"}}).Method; got != "rebase" {
		t.Errorf("the method is %q, want the next best", got)
	}
}

func TestAcceptance(t *testing.T) {
	tests := func(a merge.Acceptance) func(*merge.Snapshot) { return func(s *merge.Snapshot) { s.Acceptance = a } }
	hold(t, merge.GateAcceptance, []one{
		{"passed on the head", nil, nil, merge.Pass, "passed on 1111111"},
		{"passed on an earlier commit", tests(merge.Acceptance{Commit: older, Verdict: merge.Pass}), nil, merge.Pending, "not run on 1111111"},
		{"never run", tests(merge.Acceptance{}), nil, merge.Pending, "have not run"},
		{"failed", tests(merge.Acceptance{Commit: head, Verdict: merge.Fail, Reason: "2 of 9 failed"}), nil, merge.Fail, "2 of 9 failed"},
		{"running", tests(merge.Acceptance{Commit: head, Verdict: merge.Pending}), nil, merge.Pending, ""},
		{"without a verdict", tests(merge.Acceptance{Commit: head}), nil, merge.Unknown, ""},
		{"not there to be run", tests(merge.Acceptance{}), func(r *merge.Rules) { r.NoAcceptance = true }, merge.Pass, "no acceptance tests"},
	})
}
