package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

const threshold = 0.85

// all is asked for of a report that has nothing: what weighs most, and no more than three.
var all = []string{"What happens", "What should happen", "Steps to reproduce"}

func analyse(t *testing.T, a brain.Assignment) instance.Result {
	t.Helper()
	out, err := rules.Analyst{}.Work(t.Context(), a)
	if err != nil || !out.Declared {
		t.Fatalf("declared %t, error %v", out.Declared, err)
	}
	return out.Result
}

// labels are the openings of the questions.
func labels(questions []string) (found []string) {
	for _, q := range questions {
		label, _, _ := strings.Cut(strings.TrimPrefix(q, "**"), ".**")
		found = append(found, label)
	}
	return found
}

func TestAQuestionRepeatsWhatTheReportSaysOfIt(t *testing.T) {
	for name, c := range map[string]struct{ title, body, want string }{
		"what happens": {"Wrong exit code", "I use it in CI. When I run `tool check` on an empty file it exits with 0. Thanks!",
			"The report describes “When I run `tool check` on an empty file it exits with 0”. What should happen instead?"},
		"what should happen":                {"Discount", "If I enter the code SUMMER in the checkout page, the price should be 10 % lower.", "You expect “If I enter the code SUMMER in the checkout page, the price should be 10 % lower”. What happens instead?"},
		"of a crash its message":            {"App crashes", "It crashes.", "**What happens.** What does the error say?"},
		"in German":                         {"Summe", "Wenn ich zwei Artikel in den Warenkorb lege, zeigt die Seite 3,00 an.", "Im Bericht steht „Wenn ich zwei Artikel in den Warenkorb lege, zeigt die Seite 3,00 an“. Was soll stattdessen passieren?"},
		"and nothing where it says nothing": {"Login broken", "", "**What happens.** What exactly happens?"},
	} {
		t.Run(name, func(t *testing.T) {
			r := analyse(t, brain.Assignment{Issue: instance.Issue{Title: c.title, Body: c.body}})
			if !slices.ContainsFunc(r.Questions, func(q string) bool { return strings.Contains(q, c.want) }) {
				t.Errorf("the questions are %q", r.Questions)
			}
		})
	}
}

// asked is the instance after the analyst asked all it asks about "Login broken", with these answers.
func asked(t *testing.T, answers ...string) brain.Assignment {
	t.Helper()
	a := brain.Assignment{Issue: instance.Issue{Title: "Login broken"}}
	for i, text := range analyse(t, a).Questions {
		q := instance.Question{Number: i + 1, From: "analyst", Text: text}
		if i < len(answers) && answers[i] != "" {
			q.Answered, q.Answer = true, answers[i]
		}
		a.Questions = append(a.Questions, q)
	}
	return a
}

func TestAnalystReadsAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		answers []string
		status  instance.Status
		clear   bool
		asks    []string
	}{
		"all answered":            {[]string{"a blank page", "my orders", "log in as eve"}, instance.Success, true, nil},
		"in any language":         {[]string{"leere Seite", "meine Liste", "anmelden"}, instance.Success, true, nil},
		"two still open":          {[]string{"a blank page"}, instance.Success, false, nil},
		"one that nobody knows":   {[]string{"Sorry, I don't know.", "my orders", "log in as eve"}, instance.Success, false, []string{"Where"}},
		"none that anybody knows": {[]string{"no idea", "?", "weiß ich leider nicht"}, instance.Blocked, false, nil},
		"one text that tells some": {slices.Repeat([]string{rules.ToAll + "It shows a blank page."}, 3), instance.Success, false,
			[]string{"What should happen", "Steps to reproduce", "Where"}},
		"one text that tells all": {
			slices.Repeat([]string{rules.ToAll + "When I log in on /account/login it shows a blank page, it should show my orders."}, 3), instance.Success, true, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := analyse(t, asked(t, c.answers...))
			if r.Status != c.status || r.ConfidenceScore >= threshold != c.clear {
				t.Errorf("%s with confidence %v: %s", r.Status, r.ConfidenceScore, r.Summary)
			}
			if diff := cmp.Diff(c.asks, labels(r.Questions)); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnalystNeverAsksTheSameAThirdTime(t *testing.T) {
	vague := rules.ToAll + "Hm."
	a := asked(t, slices.Repeat([]string{vague}, 3)...)
	for i, text := range analyse(t, a).Questions {
		a.Questions = append(a.Questions, instance.Question{Number: 4 + i, Text: text, Answered: true, Answer: vague})
	}
	if r := analyse(t, a); len(r.Questions) != 0 || r.Status != instance.Blocked || !strings.Contains(r.Summary, "nothing left to ask") {
		t.Errorf("%s, questions %v: %s", r.Status, r.Questions, r.Summary)
	}
}

func TestAnalystReadsCommentsButNotItsOwn(t *testing.T) {
	a := brain.Assignment{Issue: instance.Issue{Title: "Login broken"}}
	tell := "When I log in on /account/login it shows a blank page, it should show my orders."
	t.Run("a person's", func(t *testing.T) {
		a.Notes = []instance.NoteEntry{{Author: "eve", Kind: "commented", Text: tell}}
		if r := analyse(t, a); r.ConfidenceScore < threshold {
			t.Errorf("confidence %v: %s", r.ConfidenceScore, r.Summary)
		}
	})
	t.Run("a quote", func(t *testing.T) {
		a.Notes = []instance.NoteEntry{{Author: "eve", Kind: "commented", Text: "> " + tell + "\n\n+1"}}
		if r := analyse(t, a); len(r.Questions) != len(all) {
			t.Errorf("questions %v", r.Questions)
		}
	})
	t.Run("its own", func(t *testing.T) {
		a.Notes = []instance.NoteEntry{{Author: "bot", Kind: "commented", Text: rules.Marker("x/1", "questions-1") + "\n" + tell}}
		if r := analyse(t, a); len(r.Questions) != len(all) {
			t.Errorf("questions %v", r.Questions)
		}
	})
	t.Run("another kind of note", func(t *testing.T) {
		a.Notes = []instance.NoteEntry{{Author: "developer", Kind: "learning", Text: tell}}
		if r := analyse(t, a); len(r.Questions) != len(all) {
			t.Errorf("questions %v", r.Questions)
		}
	})
}

func TestAnalystHonoursThePolicy(t *testing.T) {
	issue := instance.Issue{Title: "Discount", Body: "If I enter the code SUMMER in the checkout page, the price should be 10 % lower."}
	for name, policy := range map[string]any{"a number": 0.5, "text, as it comes over the wire": "0.5"} {
		t.Run(name, func(t *testing.T) {
			r := analyse(t, brain.Assignment{Issue: issue, Policy: map[string]any{"confidence_threshold": policy}})
			if len(r.Questions) != 0 {
				t.Errorf("asks %v with confidence %v", r.Questions, r.ConfidenceScore)
			}
		})
	}
}

func TestAnalystPassesOnWhatNoReportCanHelp(t *testing.T) {
	complete := instance.Issue{Title: "Parse rounds down", Body: "`money.Parse(\"0.999\")` returns 99 instead of 100 since v1.4.0."}
	t.Run("a role that is blocked", func(t *testing.T) {
		last := instance.Result{Status: instance.Blocked, Summary: "no tests found"}
		if r := analyse(t, brain.Assignment{Issue: complete, Last: &last}); r.Status != instance.Blocked || r.Summary != "no tests found" {
			t.Errorf("%s: %s", r.Status, r.Summary)
		}
	})
	t.Run("a role that asks", func(t *testing.T) {
		last := instance.Result{Status: instance.Blocked, Questions: []string{"Round half up?"}}
		open := []instance.Question{{Number: 1, From: "developer", Text: "Round half up?"}}
		if r := analyse(t, brain.Assignment{Issue: complete, Last: &last, Questions: open}); r.Status != instance.Success || r.ConfidenceScore >= threshold {
			t.Errorf("%s with confidence %v", r.Status, r.ConfidenceScore)
		}
	})
}

func TestAnalystFindsAnswersInWhatNamesNoQuestion(t *testing.T) {
	a := asked(t)
	a.Notes = []instance.NoteEntry{
		{Author: "bob", Kind: "commented", Text: "I know this one."},
		{Author: "eve", Kind: "commented", Text: "> Where?\n\nWhen I log in on /account/login it shows a blank page, it should show my orders."},
	}
	r := analyse(t, a)
	if r.ConfidenceScore < threshold || len(r.Questions) != 0 || len(r.Answers) != len(a.Questions) {
		t.Fatalf("confidence %v, questions %q, answers %+v", r.ConfidenceScore, r.Questions, r.Answers)
	}
	for _, answer := range r.Answers {
		if answer.By != "eve" || strings.Contains(answer.Text, "Where?") {
			t.Errorf("the answer is %+v", answer)
		}
	}
}

func TestTheTextOfAnEditedIssueIsAmongWhatWasSaid(t *testing.T) {
	a := brain.Assignment{Notes: []instance.NoteEntry{
		{Author: "ann", Kind: rules.Edited, Text: "It now reads: 2 and 2 are 5."}, {Author: "bob", Kind: instance.Remarked, Text: "No."},
	}}
	if got := rules.Said(a); len(got) != 1 || got[0] != a.Notes[0].Text {
		t.Errorf("%q", got)
	}
}
