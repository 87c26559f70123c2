package workflow

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const withWork = `workflow: library
version: 1
initial: lend
policy: {tries: 3}
limits:
  - {name: tries, when: instance.returns > policy.tries, to: done, reason: enough}
states:
  lend:
    owner: tester
    work: {runs: tests, does: self_check}
    next: [shelve, done]
    on: {gone: done}
    decide: [{to: shelve}]
  shelve:
    owner: pm
    added: books come back
    work: {does: open_pull_request}
    answers: {librarian: {runs: criteria, change: required}}
    next: [lend, done]
    on: {gone: done}
    decide: [{to: lend}]
  done: {final: true}
`

func TestAStateSaysWhatItsWorkIs(t *testing.T) {
	d, err := Load("library.yaml", []byte(withWork))
	if err != nil {
		t.Fatal(err)
	}
	if ps := Verify(d); len(ps) > 0 {
		t.Error(ps)
	}
	if s, _ := d.State("shelve"); s.Added != "books come back" {
		t.Errorf("it was added because %q", s.Added)
	}
	for _, c := range []struct {
		state, role string
		asked       bool
		want        WorkSpec
	}{
		{"lend", "tester", false, WorkSpec{Runs: RunsTests, Does: SelfCheck}},
		{"lend", "tester", true, WorkSpec{}},
		{"lend", "pm", false, WorkSpec{}},
		{"shelve", "pm", false, WorkSpec{Does: OpenPullRequest}},
		{"shelve", "librarian", true, WorkSpec{Runs: RunsCriteria, Change: ChangeRequired}},
		{"shelve", "librarian", false, WorkSpec{}},
		{"nowhere", "pm", false, WorkSpec{}},
	} {
		if got := d.WorkOf(c.state, c.role, c.asked); got != c.want {
			t.Errorf("%s in %s (asked: %v): %v, want %v", c.role, c.state, c.asked, got, c.want)
		}
	}
	again, err := Load("again.yaml", d.Source())
	if err != nil || again.Hash != d.Hash {
		t.Fatalf("its own text loads as %v, with %v", again, err)
	}
	for i, s := range again.States {
		if diff := cmp.Diff(d.States[i].Work, s.Work) + cmp.Diff(d.States[i].Answers, s.Answers); diff != "" || s.Added != d.States[i].Added {
			t.Errorf("%s (-first +again):\n%s", s.Name, diff)
		}
	}
	for change, want := range map[string]string{
		"{runs: tests, does: self_check}": "~ work of lend: {runs: tests, does: self_check} → {runs: criteria}",
		"{does: open_pull_request}":       "~ work of shelve: {does: open_pull_request} → {runs: criteria}",
		"{runs: criteria, change: required}": "~ work of answers of librarian of shelve: {runs: criteria, change: required}" +
			" → {runs: criteria}",
	} {
		other, err := Load("other.yaml", []byte(strings.Replace(withWork, change, "{runs: criteria}", 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := Diff(d, other); len(got) != 1 || got[0].String() != want {
			t.Errorf("the difference is %v, want %s", got, want)
		}
	}
}

func TestWorkThatIsNoneIsNamedWithItsLine(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"an unknown check", "runs: tests", "runs: test", `library.yaml:10:18: unknown runs "test"; did you mean "tests"?`},
		{"an unknown change", "change: required", "change: require", `library.yaml:18:51: unknown change "require"; did you mean "required"?`},
		{"an unknown action", "open_pull_request", "open_pull_reqest",
			`library.yaml:17:18: unknown does "open_pull_reqest"; did you mean "open_pull_request"?`},
		{"an unknown key", "runs: tests", "rus: tests", `library.yaml:10:12: unknown key "rus"; did you mean "runs"?`},
		{"no value", "runs: tests", "runs:", `library.yaml:10:12: "runs" has no value`},
		{"a change that is judged", "{runs: tests, ", "{runs: tests, change: required, ", "library.yaml:10:11: {runs: tests, change: required, does: self_check} drops changes"},
		{"work of nobody", "done: {final: true}", "done: {final: true, work: {runs: tests}}", "library.yaml:22:29: done has no owner whose work that is"},
		{"answers at the end", "done: {final: true}", "done: {final: true, answers: {pm: {runs: tests}}}", "done is final: nobody is asked anything there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := strings.Replace(withWork, c.old, c.new, 1)
			if src == withWork {
				t.Fatalf("%q is not in the definition", c.old)
			}
			if _, err := Load("library.yaml", []byte(src)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error\n%v\nwant\n%s", err, c.want)
			}
		})
	}
}

func TestVerifySaysWhichRoleCanDoWhat(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"owner: pm", "owner: librarian",
			"library.yaml:17:18: librarian cannot open_pull_request: want one of self_check, or another owner: pm, shepherd"},
		{"does: self_check", "does: take_up", "library.yaml:10:31: tester cannot take_up: want one of self_check, write_tests, or another owner: pm"},
	} {
		d, err := Load("library.yaml", []byte(strings.Replace(withWork, c.old, c.new, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if ps := Verify(d); len(ps) != 1 || ps[0].Error() != c.want {
			t.Errorf("%v, want %s", ps, c.want)
		}
	}
}

func TestAnOverlayHasTheWorkOfItsBaseUnlessItSaysOtherwise(t *testing.T) {
	base, err := Load("library.yaml", []byte(withWork))
	if err != nil {
		t.Fatal(err)
	}
	for states, want := range map[string]WorkSpec{
		"lend: {about: new}":                                {Runs: RunsTests, Does: SelfCheck},
		"lend: {work: {runs: criteria}}":                    {Runs: RunsCriteria},
		"lend: {work: {}}":                                  {},
		"lend: {owner: developer}":                          {}, // another role has work of its own
		"lend: {owner: developer, work: {change: dropped}}": {Change: ChangeDropped},
		"shelve: {answers: {tester: {runs: checks}}}":       {Runs: RunsTests, Does: SelfCheck},
	} {
		d, err := Load("over.yaml", []byte("workflow: over\nversion: 1\nextends: library\nstates: {"+states+"}\n"), base)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Load("again.yaml", d.Source())
		if err != nil || again.Hash != d.Hash {
			t.Fatalf("its own text loads with %v", err)
		}
		for _, d := range []*Definition{d, again} {
			if s, _ := d.State("lend"); s.Work != want {
				t.Errorf("%s: %v, want %v", states, s.Work, want)
			}
			if s, _ := d.State("shelve"); s.Answers["librarian"] != (WorkSpec{Runs: RunsCriteria, Change: ChangeRequired}) {
				t.Errorf("%s: the answers in shelve are %v", states, s.Answers)
			}
		}
	}
}

// TestDefinitionsStoredBeforeStatesSaidTheirWorkKeepTheirHashAndTheirWork loads
// the built-in ones as the builds before stored them.
func TestDefinitionsStoredBeforeStatesSaidTheirWorkKeepTheirHashAndTheirWork(t *testing.T) {
	for name, want := range map[string]string{
		"issue":           "f9ba85489553cd33eaac97c2b7056327e5760e5fd977c11bb871173455ab2ec1",
		"issue-navigator": "7f8c70ebcf492ef17540f6414729d052ecd24716e0f0b901f6ad5c6174c16290",
		"pipeline":        "eb52369b7cb970725d3c6e67c2f23f78bc087e3c9a999fa6b2603187a4f24273",
		"story":           "22fd4aa101c7ecfb19fddef35d92920e2af6d7a9b25d6a39dc540bb5b83bcfec",
		"task":            "702e3838af34dd8995dc4ba81e9a5e8261aaace15d244b4301d19995576e0b94",
	} {
		text, err := os.ReadFile("testdata/earlier/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		stored, err := Load(name, text)
		if err != nil {
			t.Fatal(err)
		}
		if stored.Hash != want {
			t.Errorf("the hash of %s is %s, it is stored as %s", name, stored.Hash, want)
		}
		for _, s := range stored.States {
			if s.work != nil || s.answers != nil {
				t.Errorf("%s of %s says its work", s.Name, name)
			}
			now, _ := builtinNamed(t, name).State(s.Name)
			if now.Added == "" && s.Owner == now.Owner {
				if diff := cmp.Diff(now.Work, s.Work) + cmp.Diff(now.Answers, s.Answers); diff != "" {
					t.Errorf("%s of %s (-now +stored):\n%s", s.Name, name, diff)
				}
			}
		}
	}
}

func TestALifecycleThatDoesNotSayItsWorkHasThatOfTheBuiltInStatesOfItsStatesNames(t *testing.T) {
	for _, c := range []struct {
		workflow, role, state string
		asked                 bool
		want                  WorkSpec
	}{
		{"issue", "tester", "running_tests", false, WorkSpec{Runs: RunsTests}},
		{"issue", "developer", "implementing", false, WorkSpec{Change: ChangeRequired}},
		{"issue", "developer", "running_tests", false, WorkSpec{}},
		{"issue", "tester", "running_tests", true, WorkSpec{}},
		{"issue-navigator", "tester", "running_tests", false, WorkSpec{Runs: RunsTests}},
		{"an overlay of our own", "developer", "fixing_issues", false, WorkSpec{Change: ChangeRequired}},
		{"story", "developer", "pending", false, WorkSpec{Runs: RunsCriteria, Change: ChangeRequired}},
		{"story", "developer", "pushed", true, WorkSpec{Runs: RunsCriteria}},
		{"story", "developer", "implementing", false, WorkSpec{}},
		{"task", "fullstack-developer", "in_progress", false, WorkSpec{Change: ChangeRequired}},
		{"task", "fullstack-developer", "testing", false, WorkSpec{Runs: RunsTests, Does: SelfCheck}},
		{"task", "quality-monitor", "quality_review", false, WorkSpec{Runs: RunsTests}},
		{"task", "solution-validator", "planning", false, WorkSpec{Change: ChangeDropped}},
		{"task", "cto", "pending", true, WorkSpec{Change: ChangeDropped}},
		{"pipeline", "build", "build", false, WorkSpec{Runs: RunsChecks}},
		{"pipeline", "writer", "writer", false, WorkSpec{Change: ChangeRequired}},
		{"pipeline", "analyst", "writer", true, WorkSpec{}},
		{"library", "librarian", "lend", false, WorkSpec{}},
	} {
		if got := EarlierWork(c.workflow, c.state, c.role, c.asked); got != c.want {
			t.Errorf("%s in %s of %s (asked: %v): %v, want %v", c.role, c.state, c.workflow, c.asked, got, c.want)
		}
	}
}

func TestWorkInWordsNamesAllOfIt(t *testing.T) {
	for want, w := range map[string]WorkSpec{
		"": {},
		"the tests are run, changes are dropped, does self_check":               {Runs: RunsTests, Does: SelfCheck},
		"tests, lint and type checks are run, changes are dropped":              {Runs: RunsChecks},
		"the acceptance criteria are run on what is left, a change is required": {Runs: RunsCriteria, Change: ChangeRequired},
		"changes are dropped": {Change: ChangeDropped},
	} {
		if got := w.phrases(plainly); got != want {
			t.Errorf("%v is %q, want %q", w, got, want)
		}
	}
	if all := Actions("pm"); !slices.Contains(all, OpenPullRequest) || slices.Contains(all, TendPullRequest) {
		t.Errorf("the pm can do %v", all)
	}
}

func TestEveryStateOfARoleThatCanDoSeveralThingsSaysWhich(t *testing.T) {
	for _, d := range builtins(t) {
		for _, s := range d.States {
			if (s.Owner == "pm" || s.Owner == "shepherd") && (s.Work.Does == "" || !canDo(s.Owner, s.Work.Does)) {
				t.Errorf("builtin/%s.yaml: in %s the %s does %q, want work: {does: …} with one of %v", d.Name, s.Name, s.Owner, s.Work.Does, Actions(s.Owner))
			}
		}
	}
}
