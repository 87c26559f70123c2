package rules_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

const (
	base = "aaaaaaaaaaaaaaaa"
	head = "bbbbbbbbbbbbbbbb"
)

// judged is the assignment of a change with a judgement, on an issue with this body.
func judged(body string, j verdict.Judgement) brain.Assignment {
	return brain.Assignment{
		Instance: "acme/widgets/7", Base: base, Head: head, Issue: instance.Issue{Repo: "acme/widgets", Number: 7, Title: "The sum is off", Body: body},
		Evidence: []instance.Evidence{{Name: "tests", OK: j.Unproven == "", Commit: head, Command: "go test ./...", Passed: 2, Judgement: &j}},
	}
}

// shownBy is a judgement in which these tests show the change.
func shownBy(names ...string) verdict.Judgement {
	j := verdict.Judgement{Kind: verdict.Code, Base: base, Change: head, Shown: true}
	for _, name := range names {
		j.Tests = append(j.Tests, verdict.ShownTest{Name: name, By: "tester", Base: base, Change: head, Cause: verdict.Assertion, Output: "got 3, want 4"})
	}
	return j
}

// planned has a plan with these criteria, as JSON, whose commands ran.
func planned(a brain.Assignment, criteria, ran string, failed ...string) brain.Assignment {
	a.Vars = map[string]string{"story": `{"id": "A", "acceptanceCriteria": ` + criteria + `}`}
	a.Evidence[0].Name, a.Evidence[0].Command, a.Evidence[0].Failed, a.Evidence[0].OK = "acceptance", ran, failed, len(failed) == 0
	return a
}

func TestEachCriterionIsTiedToTheTestsThatNameIt(t *testing.T) {
	flaky := shownBy("TestSum")
	flaky.Flaky = []verdict.Flake{{Name: "TestClock", Runs: []verdict.Tally{{Commit: head, Passed: 1, Failed: 1}}}}
	flaky.BaseFailures = verdict.NamesOf([]string{"TestOld"})
	compiles := shownBy("TestSum")
	compiles.Tests[0].Cause, compiles.Tests[0].By = verdict.Compile, ""
	waived := verdict.Judgement{Unproven: "all tests that ran passed before the change as well", Waived: "eve"}
	answered := judged("It is off.", shownBy("TestSum"))
	answered.Questions = []instance.Question{{Number: 1, Text: "**Done when.** What holds then?", Answered: true, Answer: "TestSum passes", By: "eve"},
		{Number: 2, Text: "**Done when.** What holds then?", To: "tester", Answered: true, Answer: "TestSum passes"}}
	untested := judged("It is off.", verdict.Judgement{})
	untested.Evidence = nil
	printing := func(output string) verdict.Judgement {
		j := shownBy("TestSum")
		j.Tests[0].Output = output
		return j
	}
	const red = " | `aaaaaaaaaaaa` | `bbbbbbbbbbbb` |"
	const none = "**not shown:** no test that failed before names it | – | – |"
	const sum = "`TestSum`, written by the `tester`" + red
	for name, c := range map[string]struct {
		a    brain.Assignment
		rows []string
	}{
		"a report without criteria is shown as a whole": {judged("It is off.", shownBy("TestSum")),
			[]string{"| the report as a whole | " + sum}},
		"an unproven change has the reason": {judged("It is off.", verdict.Judgement{Unproven: "no test ran"}),
			[]string{"| the report as a whole | **not shown:** no test ran | – | – |"}},
		"a person accepted that nothing is shown": {judged("It is off.", waived),
			[]string{"| the report as a whole | **not shown:** all tests that ran passed before the change as well; eve accepted that | – | – |"}},
		"a change that was not tested has the reason": {untested,
			[]string{"| the report as a whole | **not shown:** the newest commit was not tested | – | – |"}},
		"of two criteria one is named by its test": {judged("## Done when\n\n- [ ] TestSum passes\n- [ ] it is fast\n", shownBy("TestSum")),
			[]string{"| TestSum passes | " + sum, "| it is fast | " + none}},
		"a sentence does not name a test by accident": {judged("Expected: the sum is right", shownBy("pkg.sum")),
			[]string{"| the sum is right | " + none, "| the report as a whole | `pkg.sum`, written by the `tester`" + red}},
		"a part of a name is no name": {judged("Expected: TestSummary passes", shownBy("TestSum")),
			[]string{"| TestSummary passes | " + none, "| the report as a whole | " + sum}},
		"a test has the words of the criterion for its name": {judged("Expected: Adds two numbers.", shownBy("sum > adds two numbers")),
			[]string{"| Adds two numbers. | `sum > adds two numbers`, written by the `tester`" + red}},
		"the output of a test has the values of a criterion": {judged("Done when:\n\n- [ ] `sum(1, 2)` is `3`\n- [ ] `sum(1, 2)` is not `4`\n", printing("got 0, want sum(1, 2) = 3")),
			[]string{"| `sum(1, 2)` is `3` | " + sum, "| `sum(1, 2)` is not `4` | " + none}},
		"an unproven change shows no criterion, though it is named": {judged("Expected: TestSum passes", verdict.Judgement{Unproven: "it is distrusted"}),
			[]string{"| TestSum passes | " + none, "| the report as a whole | **not shown:** it is distrusted | – | – |"}},
		"a test that does not compile on the base says so": {judged("It is off.", compiles),
			[]string{"| the report as a whole | `TestSum`; the test was there before | `aaaaaaaaaaaa`, where it does not compile | `bbbbbbbbbbbb` |"}},
		"a flake and a failure of the base change no row": {judged("It is off.", flaky),
			[]string{"| the report as a whole | " + sum}},
		"an answer of a person is a criterion, that of a role is none": {answered, []string{"| TestSum passes | " + sum}},
		"a criterion of the plan is its command": {planned(judged("Expected: no row", shownBy("make sum")), `["make sum", "it is fast"]`, "make sum"),
			[]string{"| make sum | `make sum`, written by the `tester`" + red, "| it is fast | " + none}},
		"a command that passes shows nothing": {planned(judged("", shownBy("make sum")), `["make sum", "make all"]`, "make sum, make all"),
			[]string{"| make sum | `make sum`, written by the `tester`" + red, "| make all | **not shown:** its command passes; no run shows that it failed before | – | – |"}},
		"a command that fails": {planned(judged("", shownBy("make sum")), `["make sum", "make all"]`, "make sum, make all", "make all"),
			[]string{"| make sum | `make sum`, written by the `tester`" + red, "| make all | **not shown:** its command fails | – | – |"}},
		"a command that did not run": {planned(judged("", shownBy("TestSum")), `["make all"]`, "go test ./..."),
			[]string{"| make all | **not shown:** its command was not run on the newest commit | – | – |", "| the plan as a whole | " + sum}},
		"a criterion stays in its cell": {judged("Expected: a | b \\| c <br> @eve fixes #1", shownBy("Test|Sum")),
			[]string{`| a \| b \\| c \<br> @ eve fixes # 1 | ` + none, "| the report as a whole | `Test\\|Sum`, written by the `tester`" + red}},
	} {
		t.Run(name, func(t *testing.T) {
			_, body := pullRequest(c.a, rules.PullRequest{})
			var rows []string
			for line := range strings.Lines(body) {
				if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| criterion ") {
					rows = append(rows, strings.TrimSpace(line))
				}
			}
			if diff := cmp.Diff(c.rows, rows); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			n, shown := 0, 0
			for _, row := range rows {
				if !strings.Contains(row, " as a whole | ") {
					n++
					shown += strings.Count(row, " | `"+base[:12])
				}
			}
			of, test, whole := strings.Cut(strings.TrimPrefix(rows[len(rows)-1], "| "), " as a whole | ")
			sum := ""
			switch {
			case n > 0 && whole && !strings.HasPrefix(test, "**not shown"):
				sum = fmt.Sprintf("\nTests show %s as a whole, and name %d of %d criteria.\n", of, shown, n)
			case n > 1:
				sum = fmt.Sprintf("\n%d of %d criteria are shown by tests.\n", shown, n)
			}
			if !strings.Contains(body, sum) {
				t.Errorf("the sum is wrong in\n%s", body)
			}
		})
	}
}

func TestWhatElseRanAndWasFoundIsListed(t *testing.T) {
	j := shownBy("TestSum")
	j.Flaky = []verdict.Flake{{Name: "TestClock"}}
	j.BaseFailures = verdict.NamesOf([]string{"TestOld"})
	j.Ways = &verdict.BothWays{Files: verdict.NamesOf([]string{"test.sh"}), Aside: "passes", Changed: "passes", OK: true}
	a := judged("It is off.", j)
	a.Evidence = append(a.Evidence, instance.Evidence{Name: "lint", OK: true, Commit: head, Command: "go vet ./..."},
		instance.Evidence{Name: "red", OK: true, Commit: "cccc", Command: "go test -run TestSum"})
	a.Questions = []instance.Question{{Number: 1, Text: "Where?", Answered: true, Answer: "Here.", By: "eve"}, {Number: 2, Text: "When?"}}
	_, body := pullRequest(a, rules.PullRequest{})
	for _, want := range []string{
		"- 1 failed before the change and still fail, which is not held against it: `TestOld`\n", "- flaky, and not held against the change: `TestClock`\n",
		"- the change touches files that decide how it is tested: `test.sh`. With these as before: `passes`. With all its files: `passes`\n",
		"- also ran, `lint`: `go vet ./...` on `bbbbbbbbbbbb`: passes.\n", "> Here.\n>\n> — eve\n",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	if strings.Contains(body, "<details>") || strings.Contains(body, "-run TestSum") {
		t.Errorf("it is\n%s", body)
	}
	got, err := json.Marshal(rules.EvidenceOf(a))
	if err != nil {
		t.Fatal(err)
	}
	shown := `{"name":"TestSum","by":"tester","base":"` + base + `","change":"` + head + `","cause":"assertion","output":"got 3, want 4"}`
	want := `{"base":"` + base + `","head":"` + head + `","criteria":[{"criterion":"the report as a whole","from":"whole","tests":[` + shown + `]}],` +
		`"ran":[{"name":"tests","command":"go test ./...","commit":"` + head + `","ok":true,"passed":2,"failed":[]},` +
		`{"name":"lint","command":"go vet ./...","commit":"` + head + `","ok":true,"passed":0,"failed":[]}],` +
		`"base_failures":{"names":["TestOld"]},"flaky":[{"name":"TestClock","runs":null}],"accepted":[],` +
		`"both_ways":{"files":{"names":["test.sh"]},"aside":"passes","changed":"passes","ok":true},"findings":"",` +
		`"said":[{"question":"Where?","answer":"Here.","by":"eve"}],"demo":null}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

func TestWorkThatChangedNothingHasNoEvidence(t *testing.T) {
	a := judged("It is off.", shownBy("TestSum"))
	a.Head = base
	if e := rules.EvidenceOf(a); e != nil {
		t.Errorf("it is %+v", e)
	}
}

// folded matches a part that is folded.
var folded = regexp.MustCompile(`(?s)(<details><summary>[^<]*</summary>)\n\n.*?\n\n</details>\n`)

func TestAReaderSeesAtMostSixtyLines(t *testing.T) {
	secrets, err := secret.New()
	if err != nil {
		t.Fatal(err)
	}
	checker := outbound.New(outbound.DefaultRules(), secrets)
	for _, n := range []int{0, 1, 9, 25, 80} {
		lines := func(format string) (text string) {
			for i := range n {
				text += fmt.Sprintf(format, i)
			}
			return text
		}
		var j verdict.Judgement
		j.Unproven = "no test ran"
		if n > 0 {
			j = shownBy(strings.Fields(lines("TestSum%d "))...)
			j.Tests[0].Output = lines("line %d\n")
		}
		for i := range n {
			j.Flaky = append(j.Flaky, verdict.Flake{Name: fmt.Sprint("TestFlake", i)})
		}
		a := judged("It is off.\n\n"+lines("Line %d\n\n")+"\n## Done when\n\n"+lines("- it has property %d\n"), j)
		c := rules.PullRequest{Closes: true, Summary: lines("All is new %d.\n\n"), Diffstat: lines(" %d.go | 2 +-\n")}
		for i := range n {
			c.Commits = append(c.Commits, rules.Commit{SHA: head, Subject: fmt.Sprint("Change ", i)})
			a.Questions = append(a.Questions, instance.Question{Number: i + 1, Text: "Where?", Answered: true, Answer: "Here.", By: "eve"})
			a.Notes = append(a.Notes, instance.NoteEntry{Kind: "assumption", Text: fmt.Sprint("Assumed ", i)})
		}
		a.Notes = append(a.Notes, instance.NoteEntry{Kind: "shape", Text: strings.TrimSuffix(lines("look at %d; "), "; ")})
		_, body := pullRequest(a, c)
		if err := checker.Text(outbound.Text{What: "pull request", Body: body, Closes: 7}); err != nil {
			t.Errorf("of %d, it may not leave: %v", n, err)
		}
		seen, count := folded.ReplaceAllString(body, "$1\n"), 0
		for line := range strings.Lines(seen) {
			if strings.TrimSpace(line) != "" {
				count++
			}
		}
		if count > 60 || strings.Contains(seen, "</details>") || strings.Contains(body, "\x00") {
			t.Errorf("of %d, a reader sees %d lines:\n%s", n, count, seen)
		}
		for _, want := range []string{"> The sum is off\n", "## Acceptance criteria\n", "## How it was tested\n"} {
			if !strings.Contains(seen, want) {
				t.Errorf("of %d, no %q in\n%s", n, want, seen)
			}
		}
		if folds := strings.Contains(body, "<details>"); folds != (n >= 9) {
			t.Errorf("of %d, parts are folded: %t, in\n%s", n, folds, body)
		}
	}
}
