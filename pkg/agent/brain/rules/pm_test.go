package rules_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

func manage(t *testing.T, p rules.PM, a brain.Assignment) instance.Result {
	t.Helper()
	if a.Work = workOf(t, "pm", a.State); a.Work.Does == "" {
		t.Fatalf("the pm does nothing in %s", a.State)
	}
	out, err := p.Work(t.Context(), a)
	if err != nil || !out.Declared {
		t.Fatalf("declared %t, error %v", out.Declared, err)
	}
	return out.Result
}

// workOf is what a state of the issue lifecycle asks of the role.
func workOf(t *testing.T, role, state string) workflow.WorkSpec {
	t.Helper()
	def, err := workflow.Builtin("issue")
	if err != nil {
		t.Fatal(err)
	}
	return def.WorkOf(state, role, false)
}

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// said is a comment so many minutes after the questions were asked.
func said(minutes int, who, text string) instance.NoteEntry {
	return instance.NoteEntry{Author: who, Kind: "commented", Text: text, At: noon.Add(time.Duration(minutes) * time.Minute)}
}

// waiting is an instance whose three questions were asked at noon.
func waiting(answered ...int) brain.Assignment {
	a := brain.Assignment{State: "requirements_clarified", Entered: noon, Questions: three(answered...),
		Previous: []string{"received", "analyzing_requirements", "requirements_unclear", "waiting_for_requirements_clarification"},
		Next:     []string{"creating_tests", "analyzing_requirements", "waiting_for_requirements_clarification"}}
	for i := range a.Questions {
		a.Questions[i].AskedAt = noon
	}
	return a
}

func TestTheStateThatQuestionsWereAskedFromDecidesAgainInALifecycleOfAnyNames(t *testing.T) {
	for name, c := range map[string]struct {
		previous, next []string
		want           string
	}{
		"of the newest round":             {[]string{"plan", "design", "ask", "wait"}, []string{"plan", "design", "wait"}, "design"},
		"people have remarked in between": {[]string{"design", "ask", "wait", "read", "wait"}, []string{"design", "wait"}, "design"},
		"none that may be proposed":       {[]string{"design", "ask", "wait"}, []string{"wait"}, ""},
		"the instance began here":         {nil, []string{"design"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := waiting()
			a.State, a.Previous, a.Next, a.Work.Does = "read", c.previous, c.next, workflow.ReadAnswers
			a.Notes = []instance.NoteEntry{said(1, "eve", "Q2: 2.00")}
			r, err := rules.PM{MayAnswer: func(string) bool { return true }}.Work(t.Context(), a)
			if err != nil || r.Result.Next != c.want {
				t.Errorf("it proposes %q, %v, want %q", r.Result.Next, err, c.want)
			}
		})
	}
}

func TestPMReadsAnswersFromComments(t *testing.T) {
	for name, c := range map[string]struct {
		answered []int
		notes    []instance.NoteEntry
		who      func(string) bool
		want     []instance.QuestionAnswer
		again    bool // the analyst is to look at it again
		nothing  bool // or nobody has, since it was remarks only
	}{
		"all in one": {
			nil, []instance.NoteEntry{said(1, "eve", "Q1: buy two\nQ2: 2.00\nQ3: the cart")}, nil,
			[]instance.QuestionAnswer{{Question: 1, Text: "buy two", By: "eve"}, {Question: 2, Text: "2.00", By: "eve"}, {Question: 3, Text: "the cart", By: "eve"}}, false, false,
		},
		"by two people": {
			nil, []instance.NoteEntry{said(1, "eve", "Q1: buy two\nQ2: 2.00"), said(2, "bob", "Q3: the cart\nQ2: in dollars")}, nil,
			[]instance.QuestionAnswer{{Question: 1, Text: "buy two", By: "eve"}, {Question: 2, Text: "2.00\n\nin dollars", By: "eve, bob"}, {Question: 3, Text: "the cart", By: "bob"}}, false, false,
		},
		"free text, then one by name": {
			nil, []instance.NoteEntry{said(1, "eve", "Buy two in the cart."), said(2, "eve", "Q2: 2.00"), said(3, "bob", "Same here.")}, nil,
			[]instance.QuestionAnswer{{Question: 2, Text: "2.00", By: "eve"}}, true, false,
		},
		"one that nobody knows": {
			[]int{1, 2}, []instance.NoteEntry{said(1, "eve", "Sorry, no idea.")}, nil,
			[]instance.QuestionAnswer{{Question: 3, Text: "Sorry, no idea.", By: "eve"}}, true, false,
		},
		"a part":                 {nil, []instance.NoteEntry{said(1, "eve", "Q2: 2.00")}, nil, []instance.QuestionAnswer{{Question: 2, Text: "2.00", By: "eve"}}, true, false},
		"before the question":    {nil, []instance.NoteEntry{said(-1, "eve", "Q1: no")}, nil, nil, false, true},
		"our own comment":        {nil, []instance.NoteEntry{said(1, "bot", "Q1: no\n\n"+rules.Marker("x", "questions-1-3"))}, nil, nil, false, true},
		"what is no comment":     {nil, []instance.NoteEntry{{Kind: "learning", Text: "Q1: no", At: noon}}, nil, nil, false, true},
		"somebody without a say": {nil, []instance.NoteEntry{said(1, "mallory", "Q1: no")}, func(who string) bool { return who == "eve" }, nil, false, true},
		"answers given once more": {[]int{1, 2}, []instance.NoteEntry{said(1, "", "Q1: said before\n\nQ2: said before\n\nQ3: the header")}, nil,
			[]instance.QuestionAnswer{{Question: 3, Text: "the header"}}, false, false},
		"a comment read before": {[]int{1, 2}, []instance.NoteEntry{said(1, "", "said before, on 1 and 2")}, nil, nil, false, true},
		"a remark":              {nil, []instance.NoteEntry{said(1, "eve", "Thanks, I will look tomorrow.")}, nil, nil, false, true},
		"what answers nothing":  {nil, []instance.NoteEntry{said(1, "eve", "It is about the shop of last year.")}, nil, nil, true, false},
		"nobody":                {nil, nil, nil, nil, false, true},
		"free text before an answer by name": {[]int{1, 2}, []instance.NoteEntry{said(1, "eve", "It is a remark only."), said(2, "eve", "Q3: the cart")}, nil,
			[]instance.QuestionAnswer{{Question: 3, Text: "the cart", By: "eve"}}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := waiting(c.answered...)
			a.Notes = c.notes
			r := manage(t, rules.PM{MayAnswer: c.who}, a)
			if diff := cmp.Diff(c.want, r.Answers); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			if nothing := r.Data[rules.Heard] == rules.Nothing; nothing != c.nothing {
				t.Errorf("nothing was heard: %t", nothing)
			}
			if r.Status != instance.Success || r.Next == "analyzing_requirements" != c.again || r.ConfidenceScore < 0.85 != c.again {
				t.Errorf("got %+v", r)
			}
			a.Next = nil
			if r := manage(t, rules.PM{MayAnswer: c.who}, a); r.Next != "" {
				t.Errorf("proposes %s, which it may not", r.Next)
			}
		})
	}
}

func TestPMHearsWhatPeopleSay(t *testing.T) {
	for name, c := range map[string]struct {
		from, text string
		status     instance.Status
		next, word string
	}{
		"a yes to the pull request":       {"creating_pr", "LGTM, go ahead", instance.Success, "creating_pr", rules.Yes},
		"a yes by command":                {"creating_pr", "/approve", instance.Success, "creating_pr", rules.Yes},
		"a yes with a condition":          {"creating_pr", "Yes, but rename it first", instance.Success, "", rules.Wish},
		"a yes in a sentence":             {"creating_pr", "I approve.", instance.Success, "creating_pr", rules.Yes},
		"a yes in two":                    {"creating_pr", "I approve, go ahead.", instance.Success, "creating_pr", rules.Yes},
		"a yes with thanks":               {"creating_pr", "Thanks! This looks good to me, please go ahead.", instance.Success, "creating_pr", rules.Yes},
		"a yes in German":                 {"creating_pr", "Ja, einverstanden. Danke!", instance.Success, "creating_pr", rules.Yes},
		"a yes in German sentences":       {"creating_pr", "Ich stimme zu, mach das so.", instance.Success, "creating_pr", rules.Yes},
		"a yes but":                       {"creating_pr", "I approve, but rename it first.", instance.Success, "", rules.Wish},
		"a yes but, in German":            {"creating_pr", "Ja, aber bitte umbenennen.", instance.Success, "", rules.Wish},
		"a yes to another thing":          {"creating_pr", "Yes the total is off in the header too", instance.Success, "", rules.Wish},
		"a no in German":                  {"creating_pr", "Nein, nicht gewollt.", instance.Success, "", rules.No},
		"no approval":                     {"creating_pr", "I do not approve", instance.Success, "", rules.No},
		"a wish":                          {"creating_pr", "Please use big.Rat instead.", instance.Success, "", rules.Wish},
		"a no":                            {"creating_pr", "No.", instance.Success, "", rules.No},
		"a no by command":                 {"creating_pr", "/reject", instance.Success, "", rules.No},
		"a no with a reason":              {"creating_pr", "No, we do not want this feature any more", instance.Success, "", rules.No},
		"a no that changes nothing":       {"creating_pr", "No, please don't change it", instance.Success, "", rules.No},
		"a no with a wish":                {"creating_pr", "No, use big.Rat instead", instance.Success, "", rules.Wish},
		"a yes to something else":         {"blocked", "ok", instance.Success, "", rules.Yes},
		"nothing but what we said before": {"creating_pr", "> May I?", instance.Failure, "", ""},
		"a remark":                        {"creating_pr", "Thanks, I will look tomorrow", instance.Failure, "", ""},
	} {
		for previous, states := range map[string][]string{"": {"implementing", c.from, "waiting_for_human_input"},
			", after a remark": {"implementing", c.from, "waiting_for_human_input", "human_input_received", "waiting_for_human_input"}} {
			t.Run(name+previous, func(t *testing.T) {
				r := manage(t, rules.PM{}, brain.Assignment{
					State: "human_input_received", Previous: states, Entered: noon.Add(time.Minute),
					Next: []string{"creating_pr", "addressing_feedback"}, Notes: []instance.NoteEntry{said(0, "eve", "an older word"), said(1, "eve", c.text)},
				})
				nothing := c.status == instance.Failure
				if r.Status != c.status || r.Next != c.next || r.Summary == "" || r.Data[rules.Word] != c.word || nothing != (r.Data[rules.Heard] == rules.Nothing) {
					t.Errorf("got %+v", r)
				}
			})
		}
	}
}

func TestPMJudgesTheOtherStates(t *testing.T) {
	report := instance.Issue{Title: "Totals are off"}
	for name, c := range map[string]struct {
		a      brain.Assignment
		status instance.Status
	}{
		"a report":                     {brain.Assignment{State: "received", Issue: report}, instance.Success},
		"a report without a title":     {brain.Assignment{State: "received", Issue: instance.Issue{Title: " "}}, instance.Failure},
		"an approach":                  {brain.Assignment{State: "planning_approach", Issue: report}, instance.Success},
		"open questions":               {brain.Assignment{State: "requirements_unclear", Questions: three(1, 2)}, instance.Success},
		"unclear without a question":   {brain.Assignment{State: "requirements_unclear", Questions: three(1, 2, 3)}, instance.Blocked},
		"an obstacle":                  {brain.Assignment{State: "blocked", Attempt: 1}, instance.Success},
		"an obstacle that people kept": {brain.Assignment{State: "blocked", Attempt: 2}, instance.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			if r := manage(t, rules.PM{}, c.a); r.Status != c.status || r.Summary == "" {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestPMHasNoEffects(t *testing.T) {
	if _, err := (rules.PM{}).Work(t.Context(), brain.Assignment{State: "creating_pr", Work: workOf(t, "pm", "creating_pr")}); !errors.Is(err, rules.ErrEffect) {
		t.Errorf("got %v", err)
	}
}

func TestThePMJudgesByRuleInEveryActionButThePullRequest(t *testing.T) {
	for _, action := range workflow.Actions("pm") {
		if action == workflow.OpenPullRequest || action == workflow.SelfCheck {
			continue
		}
		if _, err := (rules.PM{}).Work(t.Context(), brain.Assignment{Work: workflow.WorkSpec{Does: action}}); err != nil {
			t.Errorf("%s: %v", action, err)
		}
	}
}

func TestARemarkOfSomeoneElseThatNamesNothingIsNotHeard(t *testing.T) {
	a := waiting(1)
	a.Issue.Author, a.Entered = "ann", noon.Add(3*time.Minute)
	a.Notes = []instance.NoteEntry{said(1, "ann", "Q2: 2.00"), said(3, "bob", "We changed `cart.go` in May.")}
	a.Questions[1].Answered, a.Questions[1].Answer, a.Questions[1].By = true, "2.00", "ann"
	if r := manage(t, rules.PM{}, a); r.Data[rules.Heard] != rules.Nothing || len(r.Answers) != 0 || r.Next != "" {
		t.Errorf("got %+v", r)
	}
	a.Notes = append(a.Notes, said(4, "ann", "It is the new one."))
	if r := manage(t, rules.PM{}, a); r.Data[rules.Heard] == rules.Nothing {
		t.Errorf("the reporter's words are not heard: %+v", r)
	}
}
