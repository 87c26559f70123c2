package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// demonstrated is work with a demonstration.
func demonstrated(d instance.Demo) brain.Assignment {
	a := judged("It is off.", shownBy("TestSum"))
	d.Base.Commit, d.Change.Commit = base, head
	a.Evidence[0].Demo = &d
	return a
}

func TestAReviewerSeesTheDemonstrationSideBySide(t *testing.T) {
	secrets, err := secret.New()
	if err != nil {
		t.Fatal(err)
	}
	checker := outbound.New(outbound.DefaultRules(), secrets)
	picture := &instance.Artifact{SHA256: "0123456789abcdef"}
	long := strings.TrimSuffix(strings.Repeat("line\n", 30), "\n")
	for name, c := range map[string]struct {
		demo instance.Demo
		want []string
		not  string
	}{
		"the bug, and its end": {
			instance.Demo{Command: "make demo", Base: instance.DemoRun{Ended: "exit code 1", Output: "sum 6\nwrong"}, Change: instance.DemoRun{Ended: "exit code 0", Output: "sum 5"}},
			[]string{"## Demonstration\n\n`make demo`\n\n| before, on `aaaaaaaaaaaa` | after, on `bbbbbbbbbbbb` |\n|---|---|\n| exit code 1 | exit code 0 |\n| `sum 6` | `sum 5` |\n| `wrong` |  |\n\n## How it was tested"}, "Pictures"},
		"it prints nothing": {
			instance.Demo{Command: "true", Base: instance.DemoRun{Ended: "exit code 0"}, Change: instance.DemoRun{Ended: "exit code 0"}},
			[]string{"| exit code 0 | exit code 0 |\n\n## How"}, "Pictures"},
		"a page": {
			instance.Demo{Command: "serve", Page: "/login", Base: instance.DemoRun{Ended: "served port 80", NoPicture: "no Chromium is installed where the tests run"},
				Change: instance.DemoRun{Ended: "served port 80", Picture: picture}},
			[]string{"Pictures of `/login`, which the console shows: before none, no Chromium is installed where the tests run; after `sha256:0123456789ab`."}, "<details>"},
		"a long output is cut, and folded": {
			instance.Demo{Command: "x", Base: instance.DemoRun{Output: long}, Change: instance.DemoRun{Output: long}},
			[]string{"… and 10 more lines\n"}, ""},
		"a hostile output stays in its cell": {
			instance.Demo{Command: "x`y", Base: instance.DemoRun{Ended: "exit code 0", Output: "a | b ``` @eve fixes #1 <img src=x>\n# head"}, Change: instance.DemoRun{Ended: "exit code 0"}},
			[]string{"`# head`"}, "\n# head"},
	} {
		t.Run(name, func(t *testing.T) {
			_, body := pullRequest(demonstrated(c.demo), rules.PullRequest{})
			for _, want := range c.want {
				if !strings.Contains(body, want) {
					t.Errorf("no %q in\n%s", want, body)
				}
			}
			if c.not != "" && strings.Contains(body, c.not) {
				t.Errorf("%q is in\n%s", c.not, body)
			}
			if err := checker.Text(outbound.Text{What: "pull request", Body: body, Closes: 7}); err != nil {
				t.Errorf("it may not leave: %v", err)
			}
		})
	}
}

func TestADemonstrationOfOlderWorkIsNotShown(t *testing.T) {
	a := demonstrated(instance.Demo{Command: "make demo"})
	a.Evidence[0].Demo.Change.Commit = "cccc"
	if _, body := pullRequest(a, rules.PullRequest{}); strings.Contains(body, "Demonstration") {
		t.Errorf("it is\n%s", body)
	}
	if e := rules.EvidenceOf(a); e.Demo != nil {
		t.Errorf("it is %+v", e.Demo)
	}
}

func TestALongDemonstrationIsFolded(t *testing.T) {
	a := demonstrated(instance.Demo{Command: "x", Base: instance.DemoRun{Output: strings.Repeat("line\n", 30)}})
	var c rules.PullRequest
	for i := range 28 {
		c.Commits = append(c.Commits, rules.Commit{SHA: head, Subject: fmt.Sprint("Change ", i)})
	}
	if _, body := pullRequest(a, c); !strings.Contains(body, "<details><summary>Output before and after</summary>\n\n| before") {
		t.Errorf("it is\n%s", body)
	}
}
