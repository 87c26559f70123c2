package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// gates is what a look at a pull request and a command left.
var gates = []instance.Evidence{
	{Name: "acceptance", OK: true, Commit: "5f445b08b550", Command: "go test ./...", Passed: 3},
	{Name: "gate:open", OK: true, Commit: "5f445b08b550", Verdict: instance.VerdictPass,
		Data: map[string]string{"reason": "it is open", "read_at": "nine"}},
	{Name: "gate:approvals", Commit: "5f445b08b550", Verdict: instance.VerdictPending,
		Data: map[string]string{"reason": "0 of 1 approvals", "ann": "dismissed"}},
	{Name: "gate:checks", Commit: "0123456789ab", Verdict: instance.VerdictUnknown, Data: map[string]string{"reason": "nobody\x1b[31m knows"}},
}

const table = `  checks       pass     acceptance      go test ./... (3 passed, 0 failed)
               pass     gate:open       it is open
               pending  gate:approvals  0 of 1 approvals
                                        ann: dismissed
               unknown  gate:checks     nobody‹U+001B›[31m knows (on 0123456789)
`

func TestAnExplanationEndsWithTheChecksAndWhatTheySaw(t *testing.T) {
	def, err := workflow.Builtin("story")
	if err != nil {
		t.Fatal(err)
	}
	env, out := screen(0)
	e := Explain(env, def, Of(wire.FullView(instance.Instance{ID: "s", State: "pushed", Kind: workflow.Work, Owner: "shepherd", Head: "5f445b08b550",
		Evidence: gates})))
	if err := e.Print(env, true); err != nil || !strings.HasSuffix(out.String(), table) {
		t.Errorf("%v\n%s", err, out)
	}
	if c := e.Checks[2]; c.Verdict != instance.VerdictPending || c.Says != "0 of 1 approvals" || c.Seen["ann"] != "dismissed" ||
		len(c.Seen) != 1 {
		t.Errorf("%+v", c)
	}
}

func TestAPageTellsCommandsFromLooks(t *testing.T) {
	env, out := screen(0)
	if err := Page(env, Instance{Instance: "s", Kind: workflow.Work, Head: "5f445b08b550", Evidence: gates}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  acceptance   passed on 5f445b08b5: go test ./... (3 passed, 0 failed)\n  checks       pass     gate:open       it is open\n", "pending  gate:approvals"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, out)
		}
	}
}

func TestWhatComesAfterOthersSaysWhetherTheyCanStillEndWell(t *testing.T) {
	def, err := workflow.Builtin("task")
	if err != nil {
		t.Fatal(err)
	}
	env, _ := screen(0)
	in := Of(wire.FullView(instance.Instance{ID: "p/3", State: "pending", Kind: workflow.Wait, Links: []instance.Link{
		{Instance: "p/0", Kind: "after", Ended: true, Well: true, State: "completed"},
		{Instance: "p/1", Kind: "after", Ended: true, State: "human_escalation"}, {Instance: "p/2", Kind: "after"},
	}}))
	e := Explain(env, def, in)
	if want := "It comes after p/1, which did not end well: human_escalation; p/2, which has not ended yet."; e.Why != want {
		t.Errorf("%q, want %q", e.Why, want)
	}
	if !slices.Contains(e.Help, "signalbox signal p/3 released") {
		t.Errorf("it helps to %q", e.Help)
	}
}

func TestShowNamesTheNewestPromptWithItsHash(t *testing.T) {
	env, out := screen(0)
	in := Instance{Instance: "a/1", Kind: workflow.Work, Artifacts: []instance.Artifact{
		{Name: "implementing.prompt", Size: 1, SHA256: "aaaaaaaaaaaaaaaa"}, {Name: "fixing_issues.prompt", Size: 6123, SHA256: "0123456789abcdef"},
		{Name: "fixing_issues.log", Size: 7, SHA256: "short"}, {Name: "other", Size: 8}}}
	if err := Page(env, in); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"prompt       of fixing_issues: 6123 bytes, SHA-256 0123456789ab; signalbox logs a/1 --state fixing_issues\n",
		"log          of fixing_issues: 7 bytes, SHA-256 short;"} {
		if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "of implementing") {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
