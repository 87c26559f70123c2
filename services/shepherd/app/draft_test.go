package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// wants sends the signal of a person's command, and waits until the shepherd waits again.
func (s *tale) wants(signal, key, commit string) *instanceMessage {
	s.w.Helper()
	reply, err := s.w.client.Signal(s.w.ctx, s.id, signal, fmt.Sprint("command/", signals.Add(1)), "ann", map[string]string{key: commit})
	if err != nil {
		s.w.Fatal(err)
	}
	return s.until("at rest, or merged", func(in *instanceMessage) bool {
		return in.GetSeq() > reply.GetSeq() && (in.GetParked() != nil || in.GetState() != "pushed")
	})
}

// draft reports whether the pull request is a draft.
func (s *tale) draft() bool { s.w.Helper(); return s.on()["draft"] == true }

func TestADraftEndsWhenOnlyReviewersAreWaitedFor(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	if !s.draft() {
		t.Error("without a check it is no draft")
	}
	w.bob.status(s.head(), "failure")
	if s.told(); !s.draft() {
		t.Error("with a red check it is no draft")
	}
	w.bob.status(s.head(), "success")
	w.bob.do("POST", path("/issues/%d/labels", s.pull), object{"labels": []string{"hold"}})
	if s.told(); !s.draft() {
		t.Error("while it is held it is no draft")
	}
	w.bob.do("DELETE", path("/issues/%d/labels/hold", s.pull), nil)
	s.stands(s.told(), "approvals pending")
	if s.draft() {
		t.Error("when only an approval is missing it is a draft")
	}
	w.ann.approve(s.pull)
	s.tell()
	s.reaches("merged")
}

func TestADraftStaysUntilTheMergeWhereThatIsWanted(t *testing.T) {
	w := newEnv(t, "draft_until: merge")
	s := w.begin("US-1", 0).proposed()
	w.bob.status(s.head(), "success")
	if in := s.told(); !s.draft() || !strings.Contains(evidenceOf(in, "readiness").GetData()["reason"], "which ends when they do") {
		t.Errorf("it is a draft: %v; %v", s.draft(), evidenceOf(in, "readiness"))
	}
	w.ann.approve(s.pull)
	s.tell()
	s.reaches("merged")
}

func TestWhereNothingIsMergedByItselfAWordForThisCommitDoes(t *testing.T) {
	w := newEnv(t, "auto_merge: false")
	s := w.begin("US-1", 0).proposed()
	before := s.head()
	w.bob.status(before, "success")
	w.ann.approve(s.pull)
	if in := s.told(); !strings.Contains(in.GetLastResult().GetSummary(), "merged when a person says so") {
		t.Errorf("it says %q", in.GetLastResult().GetSummary())
	}
	w.ann.pushes(s.get().GetVars()["branch"], "more.txt", "more\n")
	if in := s.wants("merge_requested", "merge_at", before); in.GetState() == "merged" {
		t.Error("the word for an earlier commit merged it")
	}
	w.bob.status(s.head(), "success")
	w.bob.approve(s.pull)
	s.told()
	if w.merged() != 0 {
		t.Error("it is merged without a word for its newest commit")
	}
	s.wants("merge_requested", "merge_at", s.head())
	s.reaches("merged")
}

func TestAWordToMergeOvercomesNoGate(t *testing.T) {
	w := newEnv(t, "auto_merge: false")
	s := w.begin("US-1", 0).proposed()
	w.bob.status(s.head(), "success")
	s.stands(s.wants("merge_requested", "merge_at", s.head()), "approvals pending")
	w.ann.approve(s.pull) // the word is remembered
	s.tell()
	s.reaches("merged")
}

func TestTheBaseIsBroughtInWhenSomebodyWantsThat(t *testing.T) {
	w := newEnv(t)
	s := w.begin("US-1", 0).proposed()
	trunk, before := w.ann.pushes("trunk", "other.txt", "other\n"), s.head()
	s.told()
	if s.head() != before {
		t.Fatal("the base was brought in without a word")
	}
	in := s.wants("rebase_requested", "rebase_at", before)
	s.until("brought in", func(*instanceMessage) bool { return s.head() != before })
	if !w.contains(in.GetVars()["branch"], trunk, before) {
		t.Errorf("the branch is at %s, without %s or %s", s.head(), trunk, before)
	}
	if !slices.ContainsFunc(w.heard(), func(q string) bool { return strings.Contains(q, "new commits of trunk") }) {
		t.Errorf("the developer was asked %q", w.heard())
	}
}

func TestCodeOwnersAreAskedWhenTheDraftEnds(t *testing.T) {
	w := newEnv(t)
	w.ann.pushes("trunk", "CODEOWNERS", "* @bob\n")
	w.ann.do("POST", "/rulesets", object{
		"name": "owners", "target": "branch", "enforcement": "active",
		"conditions": object{"ref_name": object{"include": []string{"~DEFAULT_BRANCH"}, "exclude": []string{}}},
		"rules": []object{{"type": "pull_request", "parameters": object{"required_approving_review_count": 1, "require_code_owner_review": true,
			"dismiss_stale_reviews_on_push": false, "require_last_push_approval": false, "required_review_thread_resolution": false}}},
	})
	s := w.begin("US-1", 0).proposed()
	asked := func() (logins []string) {
		for _, one := range s.on()["requested_reviewers"].([]any) {
			logins = append(logins, one.(object)["login"].(string))
		}
		return logins
	}
	if got := asked(); len(got) != 0 {
		t.Errorf("of the draft %q are asked", got)
	}
	w.ann.status(s.head(), "success")
	s.told()
	if got := asked(); !slices.Equal(got, []string{"bob"}) {
		t.Errorf("%q are asked, want the code owner", got)
	}
	w.ann.approve(s.pull)
	in := s.told()
	if _, reason := gate(in, "approvals"); !strings.Contains(reason, "perhaps a code owner's") {
		t.Errorf("with another's approval the gate says %q", reason)
	}
	w.bob.approve(s.pull)
	s.tell()
	s.reaches("merged")
}

func TestARepositoryWithoutCIIsToldOnceAndItsDraftEnds(t *testing.T) {
	w := newEnvAt(t, func() time.Time { return time.Now().Add(-10 * time.Minute) })
	s := w.begin("US-1", 0).proposed()
	in := s.told()
	if s.draft() {
		t.Error("it is still a draft")
	}
	if verdict, reason := gate(in, "no-failing-checks"); verdict == "pass" {
		t.Errorf("a merge without any check is permitted: %s", reason)
	}
	s.told()
	said := slices.DeleteFunc(w.said(s.pull), func(body string) bool { return !strings.Contains(body, "allow_no_checks: true") })
	if len(said) != 1 {
		t.Errorf("it is told %d times: %q", len(said), w.said(s.pull))
	}
}
