package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

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
			"bug", []string{"What should happen", "Steps to reproduce", "Done when"},
		},
		"a crash and no more": {
			instance.Issue{Title: "App crashes", Body: "It crashes."}, "bug", []string{"What happens", "Steps to reproduce", "Where"},
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
			instance.Issue{Title: "Rundung", Body: "Die Summe stimmt nicht."}, "bug", []string{"Was passiert", "Was passieren soll", "Schritte"},
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
			instance.Issue{Title: "Add search"}, "feature", []string{"What", "Why", "Done when"},
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
