package repoconfig_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/signalbox/signalbox/pkg/agent/repoconfig"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

const full = `# all there is
lifecycle: story
label: ai
policy:
  max_iterations: 5
  require_tests: true
  red_first: always
budget: {usd: 5, tokens: 2000000, day: [{usd: 20}, {role: developer, time: 8h}, {tokens: 500000}]}
commands:
  approve: maintain
  others: triage
protect:
  - infra/**
  - "*.lock"
brains: [exec:claude, "model:anthropic/*"]
limits:
  - {at_once: 3}
  - {at_once: 1, state: implementing}
  - at_once: 2
    role: developer
`

func TestAFileIsRead(t *testing.T) {
	got, err := repoconfig.Parse("f", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	if marked, err := repoconfig.Parse("f", []byte("\ufeff"+full)); err != nil || marked.Label != got.Label {
		t.Errorf("with a byte order mark: %+v, %v", marked, err)
	}
	want := repoconfig.Config{
		Lifecycle: "story", Label: "ai",
		Policy: map[string]string{"max_iterations": "5", "require_tests": "true", "red_first": "always", "budget_usd": "5",
			"budget_tokens": "2000000"},
		Commands: repoconfig.Commands{"approve": "maintain", "others": "triage"},
		Protect:  []string{"infra/**", "*.lock"}, Brains: []string{"exec:claude", "model:anthropic/*"},
		Limits: []instance.Limit{{AtOnce: 3}, {State: "implementing", AtOnce: 1}, {Role: "developer", AtOnce: 2}},
		Days:   []instance.DayBudget{{USD: 20}, {Role: "developer", WallMS: 8 * 3600 * 1000}, {Tokens: 500000}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(repoconfig.Config{}), cmpopts.IgnoreFields(repoconfig.Config{}, "Hash")); diff != "" {
		t.Error(diff)
	}
	if len(got.Hash) != 64 || got.Place("policy.red_first").Line != 7 {
		t.Errorf("hash %q, %v", got.Hash, got.Place("policy.red_first"))
	}
}

func TestAFileThatSaysNothingIsOne(t *testing.T) {
	for _, src := range []string{"", "\n", "# nothing yet\n", "---\n"} {
		if got, err := repoconfig.Parse("f", []byte(src)); err != nil || got.Hash == "" {
			t.Errorf("%q: %+v, %v", src, got, err)
		}
	}
}

func TestWhatIsWrongIsNamedWithItsLine(t *testing.T) {
	for name, test := range map[string]struct{ src, want string }{
		"an unknown key":           {"lifecycle: issue\nlabl: x\n", `f:2: unknown key "labl"; did you mean "label"?`},
		"tests":                    {"test: {command: make}\n", `f:1: unknown key "test"; commands of tests and setup are in .signalbox.yaml at the root`},
		"prompts":                  {"prompts: x\n", `f:1: unknown key "prompts"; prompts are files in .signalbox/prompts`},
		"an unknown key of budget": {"budget:\n  dollars: 5\n", `f:2: unknown key "dollars"`},
		"a budget as a policy":     {"policy: {budget_usd: 5}\n", "f:1: budget_usd is in budget: write budget: {usd: 5}"},
		"a budget that is a text":  {"budget: {usd: \"5\"}\n", "f:1: want dollars above zero"},
		"a budget of nothing":      {"budget: {usd: 0}\n", "f:1: want dollars above zero"},
		"half a token":             {"budget: {tokens: 1.5}\n", "f:1: want a whole number above zero"},
		"a day of nothing":         {"budget: {day: [{usd: 0}]}\n", "f:1: want dollars above zero"},
		"a day without an amount":  {"budget:\n  day:\n    - {role: developer}\n", "f:3: a budget of a day has one of usd, tokens and time"},
		"a day with two amounts":   {"budget: {day: [{usd: 5, time: 8h}]}\n", "f:1: a budget of a day has one of usd, tokens and time"},
		"a day that is no list":    {"budget: {day: {usd: 5}}\n", "f:1: want a list with something in it"},
		"a time without a unit":    {"budget: {day: [{time: 8}]}\n", "f:1: want a time above zero, such as 8h"},
		"an unknown key of a day":  {"budget: {day: [{dollars: 8}]}\n", `f:1: unknown key "dollars"`},
		"a permission":             {"commands:\n  approve: mantain\n", `f:2: unknown permission "mantain"; did you mean "maintain"?`},
		"a path with an exception": {"protect: [\"!infra\"]\n", "f:1: a protected path is a glob"},
		"a path that leads out":    {"protect: [../x]\n", "f:1: a protected path is a glob"},
		"a brain":                  {"brains:\n - claude\n", "f:2: want exec:COMMAND, model:PROVIDER/NAME or rules"},
		"a broken pattern":         {"brains: [\"exec:[\"]\n", "f:1: want exec:COMMAND"},
		"labels as a list":         {"labels: [ai]\n", "f:1: want kinds of issues, each with its label, such as bug: defect; the label that has an issue taken up is label"},
		"labels as a text":         {"labels: ai\n", "f:1: want kinds of issues"},
		"brains by role":           {"brains:\n  developr: [rules]\n", "f:2: brains is a list of what may work here"},
		"no brains":                {"brains: []\n", "f:1: want a list with something in it"},
		"a limit of nothing":       {"limits:\n  - {at_once: 0}\n", "f:2: want a whole number from 1"},
		"a limit without number":   {"limits:\n  - {state: x}\n", "f:2: a limit needs at_once"},
		"a key twice":              {"label: a\nlabel: b\n", "f:2: "},
		"no value":                 {"label:\n", `f:1: "label" has no value`},
		"a list":                   {"- a\n", "f:1: want keys with values"},
		"a text":                   {"hello\n", "f:1: want keys with values"},
		"no YAML":                  {"a: [\n", "not YAML"},
		"two documents":            {"label: a\n---\nlabl: b\n", "f:"},
		"an alias":                 {"label: &a x\nlifecycle: *a\n", "f:1: want a text"},
		"two lines":                {"label: \"a\\nb\"\n", "f:1: want a line of text"},
		"targets as a list":        {"notify: [team]\n", "f:1: want names of targets that the operator has defined"},
		"an event of a target":     {"notify:\n  team: [waits, fails]\n", `f:2: unknown event "fails"`},
		"no event of a target":     {"notify: {team: []}\n", "f:1: want a list with something in it"},
		"an address as a target":   {"notify: {team: {chat: 'slack://x'}}\n", "f:1: "},
		"many targets":             {"notify: {" + manyTargets() + "}\n", "f:1: more than 20 targets"},
		"labels of another kind":   {"labels: {bugs: bug}\n", `f:1: unknown kind of issue "bugs"; did you mean "bug"?`},
		"a label of our own":       {"labels: {bug: \"Signalbox:done\"}\n", "f:1: labels that begin with signalbox: show how issues stand"},
		"a large file":             {strings.Repeat("# x\n", 20_000), "80000 bytes, want at most 65536"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := repoconfig.Parse("f", []byte(test.src))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("it ended with %v, want %q", err, test.want)
			}
		})
	}
}

func TestAFileIsHeldAgainstWhatThereIs(t *testing.T) {
	defs, err := workflow.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		src, want string
		permitted []string
	}{
		"all that is right":       {full, "", []string{"issue", "story"}},
		"whatever is permitted":   {full, "", []string{"*"}},
		"nobody says":             {full, "", nil},
		"a lifecycle":             {"lifecycle: isue\n", `f:1: unknown lifecycle "isue"; did you mean "issue"?`, nil},
		"a lifecycle of records":  {"lifecycle: learnings\n", `f:1: unknown lifecycle "learnings"`, nil},
		"one that is not allowed": {"lifecycle: story\n", "f:1: the operator does not permit the lifecycle story here; permitted: issue", []string{"issue"}},
		"a policy":                {"policy:\n  max_iteration: 3\n", `f:2: unknown policy "max_iteration"; did you mean "max_iterations"?`, nil},
		"one of the operator":     {"policy: {merge_method: rebase}\n", "f:1: policy merge_method: only the operator sets it", nil},
		"a value":                 {"policy: {max_iterations: many}\n", `f:1: policy max_iterations: "many" is no`, nil},
		"a command":               {"commands: {aprove: write}\n", `f:1: unknown command "aprove"; did you mean "approve"?`, nil},
		"a state":                 {"limits:\n - {at_once: 1, state: implementin}\n", `f:2: unknown state "implementin"; did you mean "implementing"?`, nil},
		"a role":                  {"limits:\n - {at_once: 1, role: dev}\n", `f:2: unknown role "dev"`, nil},
		"a role of a day":         {"budget:\n  day:\n  - {usd: 1, role: developr}\n", `f:3: unknown role "developr"; did you mean "developer"?`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := repoconfig.Parse("f", []byte(test.src))
			if err != nil {
				t.Fatal(err)
			}
			err = c.Check(repoconfig.Operator{Definitions: defs, Lifecycles: test.permitted})
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
				t.Errorf("it ended with %v, want %q", err, test.want)
			}
		})
	}
}

func TestEverythingThatIsWrongIsNamedAtOnce(t *testing.T) {
	defs, err := workflow.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	c, err := repoconfig.Read("f", []byte(`lifecycle: isue
labl: x
policy: {max_iteration: 3}
budget: {usd: five, day: [{usd: 1, role: developr}]}
commands: {aprove: write, retry: mantain}
limits:
  - {state: implementing}
  - {at_once: 1, role: dev}
`), repoconfig.Operator{Definitions: defs})
	if c.Hash != "" {
		t.Error("a wrong file is in force")
	}
	var got []string
	for _, p := range workflow.Problems(err) {
		got = append(got, p.Error())
	}
	want := []string{`f:1: unknown lifecycle "isue"`, `f:2: unknown key "labl"`, `f:3: unknown policy "max_iteration"`, "f:4: want dollars above zero",
		`f:4: unknown role "developr"`, `f:5: unknown permission "mantain"`, `f:5: unknown command "aprove"`, "f:7: a limit needs at_once", `f:8: unknown role "dev"`}
	if len(got) != len(want) {
		t.Fatalf("it names %q, want %q", got, want)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("it names %q, want %q", got[i], want[i])
		}
	}
}

func TestACommandTakesTheHigherPermission(t *testing.T) {
	for _, test := range []struct {
		commands             repoconfig.Commands
		command, least, want string
	}{
		{nil, "approve", "write", "write"},
		{repoconfig.Commands{"approve": "maintain"}, "approve", "write", "maintain"},
		{repoconfig.Commands{"approve": "read"}, "approve", "write", "write"},
		{repoconfig.Commands{"approve": "maintain"}, "retry", "write", "write"},
		{repoconfig.Commands{"approve": "read", "others": "admin"}, "retry", "write", "admin"},
		{repoconfig.Commands{"approve": "read", "others": "admin"}, "approve", "write", "write"},
	} {
		if got := test.commands.Permission(test.command, test.least); got != test.want {
			t.Errorf("%v: %s takes %s, want %s", test.commands, test.command, got, test.want)
		}
	}
}

func TestBrainsArePermittedByPattern(t *testing.T) {
	for _, test := range []struct {
		patterns []string
		spec     string
		want     bool
	}{
		{nil, "exec:anything", true},
		{[]string{"exec:claude"}, "exec:claude", true},
		{[]string{"exec:claude"}, "exec:claude --dangerous", false},
		{[]string{"exec:claude*"}, "exec:claude --model x", true},
		{[]string{"model:anthropic/*"}, "model:anthropic/x", true},
		{[]string{"model:anthropic/*"}, "model:openai/x", false},
		{[]string{"model:anthropic/*"}, "rules", true},
		{[]string{"rules"}, "exec:claude", false},
	} {
		if got := repoconfig.PermitsBrain(test.patterns, test.spec); got != test.want {
			t.Errorf("%q with %v: %v", test.spec, test.patterns, got)
		}
	}
}

// FuzzParse holds that a file is read or refused, in bounded text.
func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("limits: [{at_once: 1}]\nbrains: [rules]\n"))
	f.Add([]byte("a: &x [b]\nc: *x\n<<: {a: b}\n? {a}: b\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		c, err := repoconfig.Parse("f", src)
		if err == nil {
			_ = c.Check(repoconfig.Operator{})
		} else if c.Hash != "" {
			t.Error("a file that is refused is in force")
		}
	})
}

// manyTargets is more targets than a file may name.
func manyTargets() string {
	var all []string
	for i := range 21 {
		all = append(all, fmt.Sprintf("t%d: [waits]", i))
	}
	return strings.Join(all, ", ")
}

func TestARepositoryChoosesTheEventsOfTargets(t *testing.T) {
	c, err := repoconfig.Parse("f", []byte("notify:\n  team: [waits, failed, waits]\n  releases: [completed]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"team": "waits,failed", "releases": "completed"}; !maps.Equal(c.Notify, want) || !maps.Equal(c.Of("f", "c").Notify, want) {
		t.Errorf("%v, want %v", c.Notify, want)
	}
}
