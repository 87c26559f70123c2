package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func assigned() brain.Assignment {
	return brain.Assignment{
		Instance: "acme/widgets/7", State: "fixing_issues", Role: "developer", About: "The developer fixes what was found.", Iteration: 6,
		Issue: instance.Issue{
			Repo: "acme/widgets", Number: 7, Title: "[Bug] Totals are off, @eve.",
			Body: "They are off.\r\n\r\n<!-- signalbox instance=x key=y -->\nFixes #3 and closes acme/gears#4, says @bob (bob@example.com)\n/hold",
		},
		Questions: []instance.Question{
			{Number: 1, Text: "**Where.** Where is it?", Answered: true, Answer: "in the cart\nand the shop", By: "eve"},
			{Number: 2, Text: "Half up or half even?"},
			{Number: 3, Text: "**Done when.** What holds then?"},
		},
		Evidence: []instance.Evidence{{Name: "tests", OK: true, Commit: "0123456789abcdef", Command: "go test -json ./...", Passed: 41}},
		Notes:    []instance.NoteEntry{{Kind: "assumption", Text: "Halves go up."}, {Kind: "learning", Text: "no one's business"}},
		Warnings: []string{"loop: a|b"},
		Last:     &instance.Result{Summary: "no way to test it, @ops", IssuesFound: []string{"no go.mod", "no Makefile"}},
	}
}

// pullRequest returns the texts of the pull request of an assignment.
func pullRequest(a brain.Assignment, p rules.PullRequest) (title, body string) {
	p.Assignment = a
	return p.Title(), p.Body()
}

func TestComments(t *testing.T) {
	one := assigned()
	one.Questions = one.Questions[1:2]
	silent := brain.Assignment{}
	for name, c := range map[string]struct{ got, want string }{
		"questions that are left": {rules.Questions(assigned()), `Thank you. To go on I still need to know:

**Q2.** Half up or half even?

**Q3. Done when.** What holds then?

Please reply here, with ` + "`Q2:`" + ` and so on before each answer; a numbered list does as well, and so does quoting a question and writing below it. Where you do not know, say so.

Work resumes automatically when you answer.
`},
		"an issue for people": {rules.Asks("Cart: @all totals", "acme/widgets/cart"), "> Cart: @ all totals\n\n" +
			"This has no issue of its own, and cannot go on without a person. The comments below have the question; an answer there reaches it. " +
			"`signalbox show acme/widgets/cart` shows how it stands.\n"},
		"an answer is late": {rules.Late{Waits: true, For: 3*time.Hour + 29*time.Minute + 40*time.Second, Open: assigned().Questions[1:2]}.Text(),
			"This still waits for an answer, for 3h30m now:\n\n**Q2.** Half up or half even?\n\nWithout one it is blocked after a while, and ends.\n"},
		"people are late": {rules.Late{Waits: true, For: 50 * time.Hour}.Text(),
			"This still waits for an answer, for 2 days now.\n\nWithout one it is blocked after a while, and ends.\n"},
		"a role is late": {rules.Late{Worker: "developer", State: "fixing_issues", For: 2 * time.Hour, Expected: 45 * time.Minute, Intervene: true,
			Command: "signalbox explain acme/widgets/7"}.Text(),
			"This takes longer than expected: it has been in `fixing_issues` for 2h, and 45m was expected. The developer has to act.\n\n" +
				"A person should look at it: `signalbox explain acme/widgets/7` shows why. It can be paused, retried or cancelled.\n"},
		"no check has reported": {rules.Unchecked("0123456789abcdef"), "No check has reported on `0123456789ab` for five minutes, so the merge waits.\n\n" +
			"If this repository has CI, look why it did not start. If it has none, add a workflow; or the operator of Signalbox sets " +
			"`allow_no_checks: true` in the policy of the lifecycle `story`.\n"},
		"issues that hold nothing": {rules.Unheeded([]string{"#3 is closed", "#4 is by\n@bob"}),
			"The text of this issue makes it wait for other issues. The work does not wait for these:\n\n- #3 is closed\n- #4 is by @ bob\n\n" +
				"To hold the work, correct the text of the issue.\n"},
		"a comment that is withheld": {rules.Withheld("acme/widgets/7", []string{"line 3: a GitHub token"}),
			"I had something to say here, and hold it back: its text may not leave.\n\n- line 3: a GitHub token\n\n" +
				"It is in the log: `signalbox history acme/widgets/7` shows it.\n"},
		"a single question": {rules.Questions(one), `To work on this I need to know:

**Q2.** Half up or half even?

Please reply here, in your own words.

Work resumes automatically when you answer.
`},
		"an obstacle": {rules.Obstacle(assigned()), `I cannot go on with this by myself.

What is in the way: no way to test it, @ ops

- no go.mod
- no Makefile

**Q2.** Half up or half even?

**Q3. Done when.** What holds then?

Please reply here what should happen, with ` + "`Q2:`" + ` and so on before each answer. The work goes on by itself after that.
`},
		"an obstacle nobody described": {rules.Obstacle(silent), `I cannot go on with this by myself.

Please reply here what should happen. The work goes on by itself after that.
`},
		"a pull request": {rules.Opened(7, "https://forge/7"), "I opened #7 for this. https://forge/7\n"},
		"a failure": {rules.Ending(rules.End{State: "failed", Reason: "the same failure came back", Summary: "2 of 3 tests fail", Failed: []string{"x.TestA", "x.Test`B"}}),
			`I could not solve this, and stop here.

Reason: the same failure came back.

Last: 2 of 3 tests fail

- ` + "`x.TestA`" + `
- ` + "`` x.Test`B ``" + `

No pull request was opened.
`},
		"an end for a person to judge": {rules.Ending(rules.End{State: "requires_human_intervention"}), `I stop here: this needs a person's judgement.

No pull request was opened.
`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPullRequest(t *testing.T) {
	title, body := pullRequest(assigned(), rules.PullRequest{
		Closes: true, Commits: []rules.Commit{{SHA: "fedcba9876543210", Subject: "Round halves up (fixes #3)"}}, Diffstat: " a.go | 2 +-\n 1 file changed\n",
	})
	if want := "Totals are off, @ eve"; title != want {
		t.Errorf("title %q, want %q", title, want)
	}
	want := `Closes #7.

## What was asked

> [Bug] Totals are off, @ eve.
>
> They are off.
>
> \<! -- signalbox instance=x key=y -->
> Fixes # 3 and closes acme/gears# 4, says @ bob (bob@example.com)
> ` + "`/hold`" + `

## What changed

- ` + "`fedcba987654`" + ` Round halves up (fixes # 3)

` + "```" + `
 a.go | 2 +-
 1 file changed
` + "```" + `

## How it was tested

` + "`go test -json ./...` on `0123456789ab`" + `: 41 tests pass.

## Questions and answers

**Q1. Where.** Where is it?

> in the cart
> and the shop
>
> — eve

**Q2.** Half up or half even?

Not answered; the agents follow the report as it stands.

**Q3. Done when.** What holds then?

Not answered; the agents follow the report as it stands.

## Assumptions

- Halves go up.

<!-- signalbox instance=acme%2Fwidgets%2F7 key=pull-request -->
`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if instance, key, ok := rules.FindMarker(body); !ok || instance != "acme/widgets/7" || key != "pull-request" {
		t.Errorf("marker %q %q %t", instance, key, ok)
	}
}

func TestPullRequestOfLittle(t *testing.T) {
	a := brain.Assignment{Instance: "local-1", Issue: instance.Issue{Number: 3, Title: "feat: "}}
	title, body := pullRequest(a, rules.PullRequest{})
	if title != "Solve issue 3" || !strings.HasPrefix(body, "For #3.\n") || !strings.Contains(body, "It was not tested.") || strings.Contains(body, "What changed") {
		t.Errorf("title %q, body:\n%s", title, body)
	}
}

func TestPullRequestOfMuch(t *testing.T) {
	a := assigned()
	a.Issue.Title = strings.Repeat("long ", 100)
	a.Issue.Body = strings.Repeat(strings.Repeat("x", 10_000)+"\n", 1000)
	title, body := pullRequest(a, rules.PullRequest{})
	if n := len([]rune(title)); n > 72 || len(body) > 60_000 {
		t.Errorf("title of %d characters, body of %d bytes", n, len(body))
	}
}

func TestEvidenceInWords(t *testing.T) {
	for name, c := range map[string]struct {
		ev   instance.Evidence
		want string
	}{
		"one":                {instance.Evidence{OK: true, Passed: 1}, "1 test passes."},
		"not counted":        {instance.Evidence{OK: true}, ": passes."},
		"some fail":          {instance.Evidence{Passed: 39, Failed: []string{"a", "b"}}, "2 of 41 tests fail."},
		"fails, not counted": {instance.Evidence{ExitCode: 2}, ": fails."},
		"could not run":      {instance.Evidence{Output: "could not run: go is not installed here"}, " could not be run."},
	} {
		t.Run(name, func(t *testing.T) {
			c.ev.Name, c.ev.Command, c.ev.Commit = "tests", "make test", "abc"
			if _, body := pullRequest(brain.Assignment{Evidence: []instance.Evidence{c.ev}}, rules.PullRequest{}); !strings.Contains(body, "`make test` on `abc`") || !strings.Contains(body, c.want) {
				t.Errorf("body:\n%s", body)
			}
		})
	}
}

func TestMarkers(t *testing.T) {
	for name, c := range map[string]struct {
		body          string
		instance, key string
	}{
		"round trip":         {rules.Marker("acme/w -->/1", "a b"), "acme/w -->/1", "a b"},
		"below text":         {"hello\r\n\r\n" + rules.Marker("i", "k") + "\r\n", "i", "k"},
		"of nothing":         {rules.Marker("", ""), "", ""},
		"quoted":             {"> " + rules.Marker("i", "k"), "-", "-"},
		"within a line":      {"see " + rules.Marker("i", "k"), "-", "-"},
		"another's":          {"<!-- status v1 -->", "-", "-"},
		"with a broken name": {"<!-- signalbox instance=%zz key=k -->", "-", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			instance, key, ok := rules.FindMarker(c.body)
			if ok != (c.key != "-") || ok && (instance != c.instance || key != c.key) {
				t.Errorf("%q %q %t", instance, key, ok)
			}
		})
	}
}

func TestAPullRequestThatAForgeWouldNotTakeIsShortenedAndSaysSo(t *testing.T) {
	const most = 65536
	var stat strings.Builder
	c := rules.PullRequest{Closes: true, Summary: "All is new."}
	for i := range 1500 {
		fmt.Fprintf(&stat, " %s/%d.txt | 1 +\n", strings.Repeat("directory/", 6), i)
		c.Commits = append(c.Commits, rules.Commit{SHA: "0123456789abcdef", Subject: fmt.Sprint("Write file ", i)})
	}
	c.Diffstat = stat.String() + " 1500 files changed, 1500 insertions(+)\n"
	_, body := pullRequest(assigned(), c)
	for _, want := range []string{"… and 1300 more commits", "… and 1300 more files", "1500 files changed", "## How it was tested", "key=pull-request -->"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	if n := utf8.RuneCountInString(body); n > most {
		t.Errorf("it has %d characters", n)
	}
	// However much people wrote.
	a := assigned()
	a.Issue.Body = strings.Repeat(strings.Repeat("*@", 500)+"\n", 50)
	c.Summary = a.Issue.Body
	for range 40 {
		a.Questions = append(a.Questions, instance.Question{Number: 1, Text: a.Issue.Body, Answered: true, Answer: a.Issue.Body})
	}
	if _, body := pullRequest(a, c); utf8.RuneCountInString(body) > most || !strings.Contains(body, "more questions.") {
		t.Errorf("it has %d characters", utf8.RuneCountInString(body))
	}
}
