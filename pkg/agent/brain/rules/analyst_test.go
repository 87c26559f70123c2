package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/instance"
)

const threshold = 0.85

var all = []string{"Steps to reproduce", "What should happen", "What happens", "Where", "Done when"}

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

func TestAnalystJudgesReports(t *testing.T) {
	for name, c := range map[string]struct {
		issue instance.Issue
		kind  string
		asks  []string // none: the report is clear
	}{
		"a complete bug in a template": {
			instance.Issue{Title: "Totals are truncated", Body: `<!-- Thank you for reporting! -->
### Steps to reproduce

1. Put an item for 0.999 in the cart
2. Open the summary

### Expected behaviour

A total of 1.00

### Actual behaviour

A total of 0.99

### Version

2.4.1
`}, "bug", nil,
		},
		"a template left empty": {
			instance.Issue{Title: "It does not work", Body: `### Steps to reproduce

_No response_

### Expected behavior

<!-- what did you expect? -->

### Actual behavior

N/A

### Version

...

- [x] I have searched the existing issues
`}, "bug", all,
		},
		"a terse bug with all that is needed": {
			instance.Issue{Title: "Parse rounds down", Body: "`money.Parse(\"0.999\")` returns 99 instead of 100 since v1.4.0."}, "bug", nil,
		},
		"the Go project's questions": {
			instance.Issue{Title: "strings: wrong result for empty input", Body: `#### What version of Go are you using?
go1.26
#### What did you do?
Called Split on an empty string.
#### What did you expect to see?
An empty slice.
#### What did you see instead?
A slice of one.`}, "bug", nil,
		},
		"bold labels within the text": {
			instance.Issue{Title: "Export loses rows", Body: "**Steps:** export 1001 rows\n**Expected:** 1001 lines\n**Actual:** 1000 lines\n"}, "bug", nil,
		},
		"a panic with its trace": {
			instance.Issue{Title: "panic on nil config", Body: "When I start the server without a file:\n```\npanic: runtime error: invalid memory address\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:12\n```"}, "bug", nil,
		},
		"a Python traceback without a way there": {
			instance.Issue{Title: "Error in nightly job", Body: "```\nTraceback (most recent call last):\n  File \"job.py\", line 3, in <module>\nKeyError: 'x'\n```"},
			"bug", []string{"Steps to reproduce", "What should happen", "Done when"},
		},
		"a crash and no more": {
			instance.Issue{Title: "App crashes", Body: "It crashes."}, "bug", []string{"Steps to reproduce", "Where", "Done when"},
		},
		"a wish that it worked": {
			instance.Issue{Title: "Rounding is wrong", Body: "The rounding is wrong, this should be fixed soon!"},
			"bug", all,
		},
		"an empty body": {
			instance.Issue{Title: "Login broken"}, "bug", all,
		},
		"what happens without what should": {
			instance.Issue{Title: "Wrong exit code", Body: "When I run `tool check` on an empty file it exits with 0."},
			"bug", []string{"What should happen", "Done when"},
		},
		"what should without what happens": {
			instance.Issue{Title: "Discount", Body: "If I enter the code SUMMER in the checkout page, the price should be 10 % lower."},
			"bug", []string{"What happens"},
		},
		"a vague total": {
			instance.Issue{Title: "Invoice totals are off sometimes", Body: "Some customers complain that the total on their invoice is wrong. Can you have a look please?"},
			"bug", all,
		},
		"an absence and no more": {
			instance.Issue{Title: "Some widgets never show up", Body: "We keep the catalogue in a file and print it. Some of our widgets are just not\nthere, and customers notice. Please fix.\n"},
			"bug", all,
		},
		"free text with commands": {
			instance.Issue{Title: "`list` hides drafts", Body: "Run:\n\n    $ app create --draft x\n    $ app list\n\nI expected x in the list but got an empty list."}, "bug", nil,
		},
		"a bug by its label": {
			instance.Issue{Title: "Add button", Labels: []string{"type: bug"}, Body: "Clicking Add in the cart view shows two rows, there should be one."}, "bug", nil,
		},
		"a report in another language": {
			instance.Issue{Title: "Rundung", Body: "Die Summe stimmt nicht."}, "bug", all,
		},
		"a complete request in a template": {
			instance.Issue{Title: "JSON output", Labels: []string{"enhancement"}, Body: `**Is your feature request related to a problem?**
We parse the table with awk.

**Describe the solution you'd like**
An option --json for list.

**Acceptance criteria**
- [ ] one object per line
- [ ] exit code 0 on an empty list`}, "feature", nil,
		},
		"a request as a user story": {
			instance.Issue{Title: "Add a --json flag to list", Body: "As an operator I want `app list --json` so that I can pipe it into jq. It should print one object per line."}, "feature", nil,
		},
		"a request without a reason": {
			instance.Issue{Title: "Support TOML configuration", Body: "Please add support for `config.toml` beside `config.yaml`. It should read the same keys."},
			"feature", []string{"Why"},
		},
		"a request without an end": {
			instance.Issue{Title: "Feature request: dark mode", Body: "I'd like a dark mode for the settings page, because I often work at night and the white hurts."},
			"feature", []string{"Done when"},
		},
		"a request that is a title": {
			instance.Issue{Title: "Add search"}, "feature", []string{"What", "Why", "Done when", "Where"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := analyse(t, brain.Assignment{Issue: c.issue})
			if r.Status != instance.Success || r.Data["kind"] != c.kind {
				t.Errorf("status %s, kind %s, want %s", r.Status, r.Data["kind"], c.kind)
			}
			if diff := cmp.Diff(c.asks, labels(r.Questions)); diff != "" {
				t.Errorf("questions (-want +got):\n%s%s", diff, r.Summary)
			}
			if clear := r.ConfidenceScore >= threshold; clear != (c.asks == nil) {
				t.Errorf("confidence %v with the questions %v", r.ConfidenceScore, c.asks)
			}
		})
	}
}

func TestAnalystAsksInTheWordsOfTheReport(t *testing.T) {
	r := analyse(t, brain.Assignment{Issue: instance.Issue{Title: "[Bug]: Login broken."}})
	for _, q := range r.Questions {
		if !strings.Contains(q, "“Login broken”") || !strings.HasSuffix(q, ".") && !strings.HasSuffix(q, "?") || strings.Contains(q, "\n") {
			t.Errorf("question %q", q)
		}
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
		"all answered":             {[]string{"log in as eve", "my orders", "a blank page", "2.3", "orders are there"}, instance.Success, true, nil},
		"all but what follows":     {[]string{"log in as eve", "my orders", "a blank page", "2.3"}, instance.Success, true, nil},
		"in any language":          {[]string{"anmelden", "meine Liste", "leere Seite", "2.3"}, instance.Success, true, nil},
		"two still open":           {[]string{"log in as eve", "my orders"}, instance.Success, false, nil},
		"one that nobody knows":    {[]string{"Sorry, I don't know.", "my orders", "a blank page", "2.3", "orders are there"}, instance.Success, true, nil},
		"none that anybody knows":  {[]string{"no idea", "no idea", "no idea", "?", "not sure"}, instance.Blocked, false, nil},
		"one text that tells some": {slices.Repeat([]string{rules.ToAll + "It shows a blank page."}, 5), instance.Success, false, []string{"Steps to reproduce", "What should happen", "Where", "Done when"}},
		"one text that tells all": {
			slices.Repeat([]string{rules.ToAll + "When I log in on /account/login it shows a blank page, it should show my orders."}, 5), instance.Success, true, nil,
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
	a := asked(t, slices.Repeat([]string{vague}, 5)...)
	for i, text := range analyse(t, a).Questions {
		a.Questions = append(a.Questions, instance.Question{Number: 6 + i, Text: text, Answered: true, Answer: vague})
	}
	if r := analyse(t, a); len(r.Questions) != 0 || r.Status != instance.Blocked || !strings.Contains(r.Summary, "nothing left to ask") {
		t.Errorf("%s, questions %v: %s", r.Status, r.Questions, r.Summary)
	}
}

func TestAnalystReadsCommentsButNotItsOwn(t *testing.T) {
	a := brain.Assignment{Issue: instance.Issue{Title: "Login broken"}}
	tell := "When I log in on /account/login it shows a blank page, it should show my orders."
	t.Run("a person's", func(t *testing.T) {
		a.Notes = []instance.Note{{Author: "eve", Kind: "commented", Text: tell}}
		if r := analyse(t, a); r.ConfidenceScore < threshold {
			t.Errorf("confidence %v: %s", r.ConfidenceScore, r.Summary)
		}
	})
	t.Run("a quote", func(t *testing.T) {
		a.Notes = []instance.Note{{Author: "eve", Kind: "commented", Text: "> " + tell + "\n\n+1"}}
		if r := analyse(t, a); len(r.Questions) != len(all) {
			t.Errorf("questions %v", r.Questions)
		}
	})
	t.Run("its own", func(t *testing.T) {
		a.Notes = []instance.Note{{Author: "bot", Kind: "commented", Text: rules.Marker("x/1", "questions-1") + "\n" + tell}}
		if r := analyse(t, a); len(r.Questions) != len(all) {
			t.Errorf("questions %v", r.Questions)
		}
	})
	t.Run("another kind of note", func(t *testing.T) {
		a.Notes = []instance.Note{{Author: "developer", Kind: "learning", Text: tell}}
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
