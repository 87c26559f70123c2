package instance_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// route is how work of a lifecycle is delivered.
type route struct {
	begin    string                     // the state in which the code is written
	delivers string                     // the state that hands the work over
	answers  map[string]instance.Result // of each owner but those that write and test
	evidence string                     // the name of the evidence that is judged
	tests    []string                   // the roles that make it
	also     []string                   // evidence that the same roles make
}

var routes = map[string]route{
	"issue": {begin: "implementing", delivers: "creating_pr", evidence: "tests", tests: []string{"tester"}},
	"issue-navigator": {begin: "implementing", delivers: "creating_pr", evidence: "tests", tests: []string{"tester"},
		answers: map[string]instance.Result{"navigator": {Status: instance.Success}}},
	"pipeline": {begin: "writer", delivers: "committer", evidence: "tests", tests: []string{"build"}, also: []string{"build"},
		answers: map[string]instance.Result{"reviewer": {Status: instance.Success, Data: map[string]string{"verdict": "APPROVED"}}}},
	"story": {begin: "pending", delivers: "committed", evidence: "acceptance", tests: []string{"developer"}},
	"task": {begin: "in_progress", delivers: "approved", evidence: "tests", tests: []string{"fullstack-developer", "quality-monitor"},
		answers: map[string]instance.Result{"cto": {Status: instance.Failure}}},
}

func TestEveryLifecycleThatDeliversAChangeHasAPolicyForUnprovenOnes(t *testing.T) {
	all, err := workflow.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	for _, def := range all {
		changes := slices.ContainsFunc(def.States, func(s workflow.State) bool { return s.Work.Change == workflow.ChangeRequired })
		if _, has := def.Policy["unproven"]; has != changes {
			t.Errorf("%s changes code: %v, and has the policy: %v", def.Name, changes, has)
		}
		if _, known := routes[def.Name]; known != changes {
			t.Errorf("%s is in the table: %v", def.Name, known)
		}
	}
}

func TestUnprovenWorkIsDeliveredOnlyAsThePolicyPermits(t *testing.T) {
	const reason = "all tests that ran passed before the change as well"
	judgements := map[string]verdict.Judgement{
		"shown":     {Kind: verdict.Code, Shown: true},
		"unproven":  {Kind: verdict.Code, Unproven: reason},
		"waived":    {Kind: verdict.Code, Unproven: reason, Waived: "ann"},
		"documents": {Kind: verdict.Documents, Unproven: reason},
	}
	for _, c := range []struct {
		unproven, documents string
		delivered           []string // the judgements
	}{
		{"allow", "allow", []string{"shown", "unproven", "waived", "documents"}},
		{"draft", "allow", []string{"shown", "unproven", "waived", "documents"}},
		{"draft", "refuse", []string{"shown", "unproven", "waived"}},
		{"draft", "ask", []string{"shown", "unproven", "waived"}},
		{"ask", "allow", []string{"shown", "waived", "documents"}},
		{"ask", "ask", []string{"shown", "waived"}},
		{"refuse", "draft", []string{"shown", "documents"}},
		{"refuse", "refuse", []string{"shown"}},
	} {
		for name, r := range routes {
			def := define(t, fmt.Sprintf("workflow: own\nversion: 1\nextends: %s\npolicy: {unproven: %s, documents: %s}\nmay: {override: [human]}\n", name, c.unproven, c.documents))
			for which, j := range judgements {
				t.Run(fmt.Sprintf("%s/%s-%s/%s", name, c.unproven, c.documents, which), func(t *testing.T) {
					if got, want := r.travel(t, def, j), slices.Contains(c.delivered, which); got != want {
						t.Errorf("it is delivered: %v, want %v", got, want)
					}
				})
			}
		}
	}
}

func TestAChangeWithoutTheTestThatTheAnalysisRequiresIsNotCommitted(t *testing.T) {
	def := define(t, "workflow: own\nversion: 1\nextends: pipeline\nmay: {override: [human]}\n")
	for _, missing := range []bool{false, true} {
		r := routes["pipeline"]
		r.answers = maps.Clone(r.answers)
		r.answers["build"] = instance.Result{Status: instance.Success, ConfidenceScore: 1,
			Data: map[string]string{"test_missing": strconv.FormatBool(missing)}}
		if got := r.travel(t, def, verdict.Judgement{Kind: verdict.Code, Shown: true}); got == missing {
			t.Errorf("the required test is missing: %t, and it is committed: %t", missing, got)
		}
	}
}

// travel has the code written and tested until it is delivered, or until twelve rounds have
// not led there. It reports whether it was delivered.
func (r route) travel(t *testing.T, def *workflow.Definition, j verdict.Judgement) bool {
	t.Helper()
	s := given(t, def, do(instance.Open{Issue: instance.Issue{Title: "Greeting is wrong", Author: "ann"}, Base: "c0"}), moveTo(r.begin))
	head := 0
	for range 12 {
		asksPeople := slices.ContainsFunc(s.in.Escalations, func(e instance.Escalation) bool { return e.RequiresHuman && !e.Resolved })
		if s.in.State == r.delivers || s.in.Closed != "" || asksPeople {
			break
		}
		if q, asked := s.in.Inquiry(); asked {
			run(t, s, do(instance.Claim{Role: q.To, Agent: "a1", Work: s.in.Work, Lease: lease}), report(instance.Result{Status: instance.Success, Summary: "none"}))
			continue
		}
		result, scripted := r.answers[s.in.Owner]
		at, _ := def.State(s.in.State)
		if !scripted {
			result = instance.Result{Status: instance.Success, ConfidenceScore: 1}
		}
		if at.Work.Change == workflow.ChangeRequired {
			head++
			result.Head = fmt.Sprintf("c%d", head)
		}
		if at.Work.Runs != "" {
			commit := fmt.Sprintf("c%d", head)
			judged := j
			judged.Base, judged.Change = "c0", commit
			result.Evidence = []instance.Evidence{{Name: r.evidence, OK: true, Commit: commit, Judgement: &judged}}
			for _, name := range r.also {
				result.Evidence = append(result.Evidence, instance.Evidence{Name: name, OK: true, Commit: commit})
			}
		}
		if s.in.Owner == "" {
			break // people have to say more
		}
		run(t, s, claim("a1"))
		if s.in.Claim == nil {
			continue // the claim itself moved it
		}
		run(t, s, report(result))
	}
	return s.in.State == r.delivers
}

func run(t *testing.T, s *fixture, steps ...step) {
	t.Helper()
	for _, step := range steps {
		if err := step(s); err != nil {
			t.Fatalf("in %s: %v", s.in.State, err)
		}
	}
}
