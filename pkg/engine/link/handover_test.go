package link_test

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// The issue lifecycle's pull request goes on as a story, if the policy says so.
func TestAnIssueHandsItsPullRequestOver(t *testing.T) {
	story, err := workflow.Builtin("story")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		policy string
		number string
		over   bool
	}{
		"by a policy":                {"hand_over: true", "7", true},
		"not by default":             {"hand_over: false", "7", false},
		"not without a pull request": {"hand_over: true", "0", false},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			own := "workflow: own\nversion: 1\nextends: issue\npolicy: {require_tests: false, " + c.policy + "}\n"
			r := e.replica(string(story.Source()), own)
			r.do("acme/widgets/42", "own", instance.Open{Issue: instance.Issue{Title: "t", Repo: "acme/widgets", Number: 42}})
			in := r.do("acme/widgets/42", "", instance.Override{To: "creating_pr", Reason: "the rest is tested elsewhere"})
			claim := r.do("acme/widgets/42", "", instance.Claim{Role: "pm", Agent: "pm", Work: in.Work, Lease: maxWait}).Claim
			in = r.do("acme/widgets/42", "", instance.Report{Token: claim.Token, Result: instance.Result{
				Status: instance.Success, Data: map[string]string{"prNumber": c.number, "pushed": "c1"},
			}})
			if over := len(in.Links) == 1; in.State != "completed" || over != c.over {
				t.Fatalf("it is in %s with %v", in.State, in.Links)
			}
			if !c.over {
				return
			}
			at := r.in("acme/widgets/42/story", "pushed")
			if at.Owner != "shepherd" || at.Vars["prNumber"] != "7" || at.Vars["pushed"] != "c1" || at.Issue.Number != 42 || at.Parent != in.ID {
				t.Errorf("the story is %+v", at)
			}
		})
	}
}
