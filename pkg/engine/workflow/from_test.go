package workflow

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestWhoMayGiveWhatInTheBuiltins(t *testing.T) {
	for _, c := range []struct {
		lifecycle, state, role string
		asked                  bool
		kind, name             string
		want                   bool
	}{
		{"issue", "running_tests", "tester", false, GivenEvidence, "tests", true},
		{"issue", "validating_solution", "tester", false, GivenEvidence, "tests", true},
		{"issue", "running_tests", "tester", true, GivenEvidence, "tests", false},
		{"issue", "creating_tests", "tester", false, GivenEvidence, "tests", false},
		{"issue", "implementing", "developer", false, GivenEvidence, "tests", false},
		{"issue", "creating_pr", "pm", false, GivenEvidence, "tests", false},
		{"issue", "running_tests", Human, false, GivenEvidence, "tests", false},
		{"issue", "running_tests", Human, false, GivenEvidence, "weather", true},
		{"issue", "implementing", "developer", false, GivenEvidence, "weather", false},
		{"issue", "creating_pr", "pm", false, GivenVar, "prNumber", true},
		{"issue", "implementing", "developer", false, GivenVar, "prNumber", false},
		{"issue", "creating_pr", Human, false, GivenVar, "prNumber", false},
		{"issue", "requirements_clarified", "pm", false, GivenAnswers, "", true},
		{"issue", "requirements_clarified", "pm", true, GivenAnswers, "", false},
		{"issue", "implementing", "developer", false, GivenAnswers, "", false},
		{"issue", "running_tests", "tester", false, GivenAnswers, "", false},
		{"pipeline", "reviewer", "reviewer", false, GivenVar, "verdict", true},
		{"pipeline", "writer", "writer", false, GivenVar, "verdict", false},
		{"pipeline", "build", "build", false, GivenVar, "verdict", false},
		{"pipeline", "build", "build", false, GivenEvidence, "build", true},
		{"pipeline", "writer", "writer", false, GivenEvidence, "build", false},
		{"pipeline", "analyst", "analyst", false, GivenAnswers, "", true},
		{"pipeline", "writer", "writer", false, GivenAnswers, "", false},
		{"story", "pending", "developer", false, GivenEvidence, "acceptance", true},
		{"story", "pushed", "developer", true, GivenEvidence, "acceptance", true},
		{"story", "committed", "developer", true, GivenEvidence, "acceptance", false},
		{"story", "pushed", "shepherd", false, GivenEvidence, "acceptance", true},
		{"story", "pushed", "shepherd", false, GivenEvidence, "readiness", true},
		{"story", "pushed", "developer", true, GivenEvidence, "readiness", false},
		{"story", "pushed", "developer", true, GivenEvidence, "merged", false},
		{"story", "pushed", "developer", true, GivenVar, "outcome", false},
		{"story", "pushed", Human, false, GivenVar, "outcome", false},
		{"task", "testing", "fullstack-developer", false, GivenEvidence, "tests", true},
		{"task", "in_progress", "fullstack-developer", false, GivenEvidence, "tests", false},
		{"task", "quality_review", "quality-monitor", false, GivenEvidence, "tests", true},
		{"task", "assigned", "git-manager", true, GivenVar, "starts_at", true},
		{"task", "in_progress", "fullstack-developer", false, GivenVar, "starts_at", false},
	} {
		d := builtinNamed(t, c.lifecycle)
		if got := d.Gives(c.state, c.role, c.asked, c.kind, c.name); got != c.want {
			t.Errorf("%s: %s gives %s %s in %s (asked: %v): %v, want %v", c.lifecycle, c.role, c.kind, c.name, c.state, c.asked, got, c.want)
		}
	}
}

// testdata/before has the built-in lifecycles of a build that knew no givers, as they
// were. Instances of then run by them, and find them by these hashes.
func TestDefinitionsOfBeforeThereWereGiversKeepTheirHashAndWhatIsSaidOfThem(t *testing.T) {
	for name, hash := range map[string]string{
		"issue":    "f9ba85489553cd33eaac97c2b7056327e5760e5fd977c11bb871173455ab2ec1",
		"pipeline": "eb52369b7cb970725d3c6e67c2f23f78bc087e3c9a999fa6b2603187a4f24273",
		"story":    "22fd4aa101c7ecfb19fddef35d92920e2af6d7a9b25d6a39dc540bb5b83bcfec",
		"task":     "702e3838af34dd8995dc4ba81e9a5e8261aaace15d244b4301d19995576e0b94",
	} {
		src, err := os.ReadFile("testdata/before/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		old, err := Load(name+".yaml", src)
		if err != nil || old.Hash != hash {
			t.Fatalf("%s has the hash %s, %v", name, old.Hash, err)
		}
		if again, err := Load("again.yaml", old.Source()); err != nil || again.Hash != hash {
			t.Errorf("%s as it is stored has the hash %s, %v", name, again.Hash, err)
		}
		for _, role := range old.Writers() {
			for check := range old.runs {
				if runs := !old.runsNowhere(role, check); runs {
					continue
				}
				for _, s := range old.States {
					if old.Gives(s.Name, role, false, GivenEvidence, check) || old.Gives(s.Name, role, true, GivenEvidence, check) {
						t.Errorf("%s: %s, which writes the code, gives %s in %s", name, role, check, s.Name)
					}
				}
			}
			for v := range old.Vars {
				if s := old.OwnedBy(role)[0]; old.Gives(s, role, false, GivenVar, v) {
					t.Errorf("%s: %s, which writes the code, sets %s", name, role, v)
				}
			}
		}
	}
}

func TestADefinitionOfBeforeHasTheSameGiversOfWhatIsRun(t *testing.T) {
	for _, name := range []string{"issue", "pipeline", "story", "task"} {
		d := builtinNamed(t, name)
		before := d.clone()
		before.gives = nil
		for i := range before.States {
			before.States[i].work, before.States[i].answers = nil, nil
		}
		old, err := Load("before.yaml", before.Source())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(old.Source()), "from:") {
			t.Errorf("%s: the text of before has `from`", name)
		}
		for check := range d.runs {
			for _, s := range d.States {
				for _, role := range d.allRoles() {
					for _, asked := range []bool{false, true} {
						was, is := old.Gives(s.Name, role, asked, GivenEvidence, check), d.Gives(s.Name, role, asked, GivenEvidence, check)
						if was != is {
							t.Errorf("%s: %s gives %s in %s (asked: %v): %v in one of before, %v now", name, role, check, s.Name, asked, was, is)
						}
					}
				}
			}
		}
	}
}

// judged is a definition in which a change is made, tested and weighed.
const judged = `workflow: judged
version: 1
initial: make
policy: {most: 3}
vars: {sound: false, hint: ""}
from:
  evidence: {weather: human}
  vars: {sound: critic}
  answers: critic
limits:
  - {name: most, when: instance.returns >= policy.most, to: dropped}
gates:
  - {name: tested, to: done, require: "'tests' in evidence && evidence['tests'].ok", instead: make}
states:
  make:
    owner: builder
    work: {change: required}
    next: [check, make, dropped]
    decide:
      - {when: result.status == 'success', to: check}
      - {to: make, failure: true}
  check:
    owner: tester
    work: {runs: tests}
    next: [weigh, make, dropped]
    decide:
      - {when: result.status == 'success', to: weigh}
      - {to: make, failure: true}
  weigh:
    owner: critic
    next: [done, make, dropped]
    decide:
      - {when: "vars.sound && instance.open_questions == 0 && 'weather' in evidence", to: done}
      - {to: make, failure: true}
  done: {final: true}
  dropped: {final: true}
`

// Each planted giver of what decides about its own work is named, with its line.
func TestVerifyNamesWhoJudgesItsOwnWork(t *testing.T) {
	if ps := Verify(loaded(t, judged)); ps != nil {
		t.Fatalf("the sound definition has %v", ps)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"a variable", "vars: {sound: critic}", "vars: {sound: [critic, builder]}",
			"8:26: variable sound decides a move (weigh), and builder may give it, whose work is judged by it: it writes the code in make"},
		{"evidence from outside", "{weather: human}", "{weather: [human, builder]}",
			"7:31: evidence weather decides a move (weigh), and builder may give it"},
		{"answers", "answers: critic", "answers: [critic, builder]",
			"9:21: answers to people's questions decides a move (weigh), and builder may give it"},
		{"who writes the code runs the tests", "owner: tester", "owner: builder",
			"24:18: evidence tests decides a move (gate tested), and builder may give it"},
		{"who writes the code weighs it", "owner: critic\n    next", "owner: builder\n    next", `unknown role "critic"`},
		{"the tester writes the code", "owner: builder", "owner: tester",
			"24:18: evidence tests decides a move (gate tested), and tester may give it"},
		{"what is asked of who writes the code", "owner: critic\n", "owner: critic\n    answers: {builder: {runs: criteria}}\n",
			"evidence tests decides a move (gate tested), and builder may give it"},
		{"the criteria of who writes the code", "'tests' in evidence && evidence['tests'].ok", "'acceptance' in evidence",
			""}, // nobody runs them: only who writes no code may give them
		{"its own criteria", "work: {change: required}", "work: {runs: criteria}",
			"17:18: evidence tests decides a move (gate tested), and builder may give it"},
		{"a computed name", "'weather' in evidence", "evidence.exists(name, evidence[name].ok)",
			"weigh rests on evidence of a computed name"},
		{"a variable in a limit", "instance.returns >= policy.most", "instance.returns >= policy.most || vars.hint == 'stop'", ""},
		{"a variable in a limit that who writes the code sets",
			"vars: {sound: critic}\n  answers: critic\nlimits:\n  - {name: most, when: instance.returns >= policy.most,",
			"vars: {sound: critic, hint: builder}\n  answers: critic\nlimits:\n  - {name: most, when: instance.returns >= policy.most || vars.hint == 'stop',",
			"8:31: variable hint decides a move (limit most), and builder may give it"},
		{"a variable that nothing reads", "vars: {sound: critic}", "vars: {sound: critic, hint: builder}", ""},
		{"a reason", "{weather: human}", "{weather: [{role: builder, self: it looks out of the window}]}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := strings.Replace(judged, c.old, c.new, 1)
			if src == judged {
				t.Fatalf("%q is not in the definition", c.old)
			}
			var said []string
			d, err := Load("judged.yaml", []byte(src))
			if err != nil {
				said = append(said, err.Error())
			} else {
				for _, p := range Verify(d) {
					said = append(said, p.Error())
				}
			}
			switch text := strings.Join(said, "\n"); {
			case c.want == "" && text != "":
				t.Errorf("it says\n%s", text)
			case !strings.Contains(text, c.want):
				t.Errorf("it says\n%s\nwant\n%s", text, c.want)
			}
		})
	}
}

// In each built-in, everything that decides a move is given in turn to every role
// that writes the code: each is named.
func TestVerifyNamesEveryGiverThatIsPlantedInABuiltin(t *testing.T) {
	for _, d := range builtins(t) {
		reads := map[given]bool{}
		note := func(g Guard) {
			for _, read := range g.rests {
				reads[read] = true
			}
		}
		for _, l := range d.Limits {
			note(l.When)
		}
		for _, g := range d.Gates {
			note(g.Require)
		}
		for _, s := range d.States {
			for _, rules := range s.rules() {
				for _, r := range rules {
					note(r.When)
				}
			}
		}
		planted := 0
		for read := range reads {
			for _, role := range d.Writers() {
				if _, runs := d.runs[read.name]; runs && read.kind == GivenEvidence && !d.runsNowhere(role, read.name) {
					continue // its own work runs it: the next test
				}
				m := d.clone()
				m.gives = laidFrom(&From{at: map[string]Position{}}, d.gives)
				giver := []Giver{{Role: role}}
				switch read.kind {
				case GivenEvidence:
					m.gives.Evidence = laid(map[string][]Giver{}, m.gives.Evidence)
					m.gives.Evidence[read.name] = giver
				case GivenVar:
					m.gives.Vars = laid(map[string][]Giver{}, m.gives.Vars)
					m.gives.Vars[read.name] = giver
				default:
					m.gives.Answers = giver
				}
				again, err := Load("planted.yaml", m.Source())
				if err != nil {
					t.Fatal(err)
				}
				planted++
				if !slices.ContainsFunc(Verify(again), func(p Problem) bool {
					return strings.Contains(p.Text, read.String()+" decides") && strings.Contains(p.Text, role+" may give it") && p.At.Line > 0
				}) {
					t.Errorf("%s: nobody says that %s gives %s", d.Name, role, read)
				}
			}
		}
		if planted == 0 && len(d.Writers()) > 0 && d.Name != "task" { // whose moves rest on what its roles run
			t.Errorf("%s: nothing was planted", d.Name)
		}
	}
}

func TestAReasonToJudgeOnesOwnWorkIsMissed(t *testing.T) {
	for name, check := range map[string]string{"story": "acceptance", "task": "tests"} {
		m := builtinNamed(t, name).clone()
		m.gives.Evidence = laid(map[string][]Giver{}, m.gives.Evidence)
		m.gives.Evidence[check] = each(m.gives.Evidence[check], func(g Giver) Giver { return Giver{Role: g.Role} })
		bare, err := Load("bare.yaml", m.Source())
		if err != nil {
			t.Fatal(err)
		}
		if ps := Verify(bare); len(ps) != 1 || !strings.Contains(ps[0].Text, "evidence "+check+" decides a move") {
			t.Errorf("%s without its reason has %v", name, ps)
		}
	}
}

func TestGiversThatAreNoneAreNamedWithTheirLine(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"an unknown role", "answers: critic", "answers: critik", `judged.yaml:9:12: unknown role "critik"; did you mean "critic"?`},
		{"an unknown variable", "{sound: critic}", "{sond: critic}", `judged.yaml:8:10: unknown var "sond"; did you mean "sound"?`},
		{"an unknown key", "answers: critic", "answer: critic", `judged.yaml:9:3: unknown key "answer"; did you mean "answers"?`},
		{"nobody", "answers: critic", "answers: []", "judged.yaml:9:12: nobody gives answers to people: want a role or human"},
		{"a role twice", "answers: critic", "answers: [critic, critic]", "judged.yaml:9:21: critic gives answers to people already"},
		{"a reason without a role", "answers: critic", "answers: [{self: it may}]", "judged.yaml:9:13: a giver without a role"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Load("judged.yaml", []byte(strings.Replace(judged, c.old, c.new, 1))); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("error\n%v\nwant\n%s", err, c.want)
			}
		})
	}
}

func TestAnOverlayLaysGiversOverByName(t *testing.T) {
	base := loaded(t, judged)
	over, err := Load("over.yaml",
		[]byte("workflow: over\nversion: 1\nextends: judged\nfrom:\n  vars: {hint: human}\n  evidence: {weather: tester}\n"), base)
	if err != nil {
		t.Fatal(err)
	}
	for want, got := range map[string][]string{
		"critic": over.Givers(GivenVar, "sound"), "human": over.Givers(GivenVar, "hint"), "tester": over.Givers(GivenEvidence, "weather"),
	} {
		if !slices.Equal(got, []string{want}) {
			t.Errorf("it may come from %v, want %s", got, want)
		}
	}
	again, err := Load("again.yaml", over.Source())
	if err != nil || again.Hash != over.Hash {
		t.Fatalf("its own text loads as %v, with %v", again, err)
	}
	if !slices.Equal(base.Givers(GivenEvidence, "weather"), []string{Human}) {
		t.Error("the overlay wrote to its base")
	}
	changes := each(Diff(base, over), Change.String)
	for _, want := range []string{"~ source of evidence of weather: human → tester", "+ source of var of hint: human"} {
		if !slices.Contains(changes, want) {
			t.Errorf("the difference is\n%s\nwant\n%s", strings.Join(changes, "\n"), want)
		}
	}
}
