package verdict_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

// run is a run of a runner that names all tests: "TestA:pass TestB:fail".
func run(tests string) verdict.Run {
	r := verdict.Run{Command: "go test ./...", Named: true, OK: true}
	for _, one := range strings.Fields(tests) {
		name, outcome, _ := strings.Cut(one, ":")
		t := verdict.Test{Name: name, File: "a_test.go", Outcome: verdict.Outcome(outcome)}
		switch outcome {
		case "fail":
			t.Cause, t.Output = verdict.Assertion, `got "Helo", want "Hello"`
		case "compile":
			t.Outcome, t.Cause, t.Output, t.Missing = verdict.Fail, verdict.Compile, "undefined: Greet", "Greet"
		}
		if t.Outcome == verdict.Fail {
			r.OK = false
		}
		r.Tests = append(r.Tests, t)
	}
	return r
}

// script is a run of a runner without names.
func script(ok bool, output string) verdict.Run {
	return verdict.Run{Command: "sh test.sh", OK: ok, Output: output}
}

// world answers the requests of Next. Each place has its runs of all tests in order; the
// last one is repeated.
type world struct {
	base, change, proof []string
	skips               bool // a run by name lists all other tests, too, as skipped: node --test does
}

// settle runs what Next asks for, and judges. cost is how many runs there were in all.
func settle(t rapid.TB, in verdict.Input, w world) (verdict.Judgement, verdict.Ruling, int) {
	t.Helper()
	n := map[verdict.Place]int{}
	next := func(on verdict.Place, names []string) verdict.Run {
		all := map[verdict.Place][]string{verdict.OnBase: w.base, verdict.OnChange: w.change, verdict.OnProof: w.proof}[on]
		r := run(all[min(n[on], len(all)-1)])
		n[on]++
		if len(names) > 0 {
			r.Only, r.OK = names, true
			other := func(t verdict.Test) bool { return !slices.Contains(names, t.Name) && t.Cause != verdict.Compile }
			for i, t := range r.Tests {
				if w.skips && other(t) {
					r.Tests[i] = verdict.Test{Name: t.Name, File: t.File, Outcome: verdict.Skip}
				}
			}
			r.Tests = slices.DeleteFunc(r.Tests, func(t verdict.Test) bool { return !w.skips && other(t) })
			for _, t := range r.Tests {
				r.OK = r.OK && t.Outcome != verdict.Fail
			}
		}
		return r
	}
	in.Base, in.Change = "base", "change"
	in.OnBase, in.OnChange = []verdict.Run{next(verdict.OnBase, nil)}, []verdict.Run{next(verdict.OnChange, nil)}
	for range 20 {
		req, ok := verdict.Next(in)
		if !ok {
			j, r := verdict.Judge(in)
			return j, r, n[verdict.OnBase] + n[verdict.OnChange] + n[verdict.OnProof]
		}
		for range req.Times {
			switch r := next(req.On, req.Names); req.On {
			case verdict.OnBase:
				in.OnBase = append(in.OnBase, r)
			case verdict.OnChange:
				in.OnChange = append(in.OnChange, r)
			case verdict.OnProof:
				in.OnProof = append(in.OnProof, r)
			}
		}
	}
	t.Fatal("after 20 rounds further runs are asked for")
	return verdict.Judgement{}, verdict.Ruling{}, 0
}

var written = []verdict.Written{{File: "a_test.go", By: "tester"}}

func TestTheVerdictIsADifference(t *testing.T) {
	for name, c := range map[string]struct {
		in       verdict.Input
		world    world
		ok       bool
		shown    bool
		unproven string // begins so
		why      string // contains it
	}{
		"an old red test that the tester rewrote": {in: verdict.Input{Written: written, FlakeRuns: 2},
			world: world{base: []string{"A:pass Old:fail"}, change: []string{"A:pass Old:pass N:pass"}, proof: []string{"A:pass Old:pass N:fail"}}, ok: true, shown: true},
		"an old red test that the developer rewrote": {in: verdict.Input{Written: []verdict.Written{{File: "a_test.go", By: "developer", Self: true}}, FlakeRuns: 2},
			world: world{base: []string{"A:pass Old:fail"}, change: []string{"A:pass Old:pass"}, proof: []string{"A:pass Old:pass"}},
			why:   "Old failed before the change, and does so no more only because the test was changed", unproven: "A passes on the base as well"},
		"an old red test that the developer skips": {in: verdict.Input{Written: []verdict.Written{{File: "a_test.go", By: "developer", Self: true}}, FlakeRuns: 2},
			world: world{base: []string{"A:pass Old:fail"}, change: []string{"A:pass Old:skip"}, proof: []string{"A:pass Old:skip"}},
			why:   "Old failed before the change, and does so no more", unproven: "A passes on the base as well"},
		"a flake that is red on the base, in a file that the tester changed": {in: verdict.Input{Written: written, FlakeRuns: 2},
			world: world{base: []string{"A:pass F:fail", "F:pass"}, change: []string{"A:pass F:pass N:pass"}, proof: []string{"A:pass F:pass N:fail"}}, ok: true, shown: true},
		"a test of the tester fails before and passes after": {in: verdict.Input{Written: written},
			world: world{base: []string{"A:pass"}, change: []string{"A:pass N:pass"}, proof: []string{"A:pass N:fail"}}, ok: true, shown: true},
		"a comment": {world: world{base: []string{"A:pass"}, change: []string{"A:pass"}}, ok: true,
			unproven: "all tests that ran passed before the change as well"},
		"a test that passes before as well": {in: verdict.Input{Written: written},
			world: world{base: []string{"A:pass"}, change: []string{"A:pass N:pass"}, proof: []string{"A:pass N:pass"}}, ok: true,
			unproven: "A passes on the base as well"},
		"a fix that breaks another test": {in: verdict.Input{FlakeRuns: 2},
			world: world{base: []string{"A:pass B:pass"}, change: []string{"A:pass B:fail"}}, why: "B passed before the change and fails now"},
		"an old red test": {in: verdict.Input{FlakeRuns: 2, Written: written},
			world: world{base: []string{"A:pass Old:fail"}, change: []string{"A:pass Old:fail N:pass"}, proof: []string{"Old:fail N:fail"}}, ok: true, shown: true},
		"an old red test alone": {in: verdict.Input{FlakeRuns: 2},
			world: world{base: []string{"Old:fail"}, change: []string{"Old:fail"}}, why: "nothing", unproven: "no test passed", ok: true},
		"a red test of the base that is green": {world: world{base: []string{"A:pass Bug:fail"}, change: []string{"A:pass Bug:pass"}}, ok: true, shown: true},
		"the test of the tester still fails": {in: verdict.Input{Written: written, FlakeRuns: 2},
			world: world{base: []string{"A:pass"}, change: []string{"A:pass N:fail"}, proof: []string{"N:fail"}}, why: "N still fails"},
		"a flake of the base": {in: verdict.Input{FlakeRuns: 2},
			world: world{base: []string{"A:pass F:fail", "F:pass"}, change: []string{"A:pass F:fail", "F:pass"}}, ok: true, unproven: "all tests"},
		"a flake that passed on the base at first": {in: verdict.Input{FlakeRuns: 2},
			world: world{base: []string{"A:pass F:pass", "F:pass", "F:fail"}, change: []string{"A:pass F:fail", "F:pass"}}, ok: true, unproven: "F is flaky"},
		"a flake that is red on the change each time": {in: verdict.Input{FlakeRuns: 2},
			world: world{base: []string{"A:pass F:pass", "F:fail"}, change: []string{"A:pass F:fail"}}, ok: true, unproven: "all tests"},
		"made flaky by the change": {in: verdict.Input{FlakeRuns: 2},
			world: world{base: []string{"A:pass F:pass"}, change: []string{"A:pass F:fail", "F:pass"}}, why: "the change makes F flaky"},
		"a test that fails only among all others, on the change and on the base": {in: verdict.Input{FlakeRuns: 2},
			world: world{base: []string{"A:pass F:pass", "A:pass F:pass", "A:pass F:fail"}, change: []string{"A:pass F:fail", "F:pass"}}, ok: true, unproven: "F is flaky"},
		"a deleted test": {world: world{base: []string{"A:pass B:pass"}, change: []string{"A:pass"}}, why: "B passed before the change and is not run now"},
		"a deleted test that people accepted": {in: verdict.Input{Accepted: []verdict.Accepted{{Name: "B", By: "ann"}}},
			world: world{base: []string{"A:pass B:pass"}, change: []string{"A:pass"}}, ok: true, unproven: "all tests"},
		"a renamed test":  {world: world{base: []string{"A:pass TestGreets:pass"}, change: []string{"A:pass TestGreetsPeople:pass"}}, ok: true, unproven: "all tests"},
		"a skipped test":  {world: world{base: []string{"A:pass B:pass"}, change: []string{"A:pass B:skip"}}, why: "B passed before the change and is skipped now"},
		"all are skipped": {world: world{base: []string{"A:pass"}, change: []string{"A:skip"}}, why: "is skipped now"},
		"no test ran":     {world: world{base: []string{""}, change: []string{""}}, why: "nothing was tested"},
		"it does not compile on the base, and the report names what is missing": {in: verdict.Input{Written: written, Words: "please add Greet(name)"},
			world: world{base: []string{"A:pass"}, change: []string{"A:pass N:pass"}, proof: []string{"pkg:compile"}}, ok: true, shown: true},
		"it does not compile on the base, and the report does not name it": {in: verdict.Input{Written: written, Words: "hello is misspelt"},
			world: world{base: []string{"A:pass"}, change: []string{"A:pass N:pass"}, proof: []string{"pkg:compile"}}, ok: true,
			unproven: "A does not load on the base for want of Greet"},
		"a test that did not load on the base": {world: world{base: []string{"A:pass C:compile"}, change: []string{"A:pass C:pass"}}, ok: true,
			unproven: "C did not load before the change"},
		"a test that is changed by the tester and fails nowhere": {in: verdict.Input{Written: written},
			world: world{base: []string{"A:pass"}, change: []string{"A:pass"}, proof: []string{"A:fail"}}, ok: true, shown: true},
		"documents": {in: verdict.Input{Kind: verdict.Documents},
			world: world{base: []string{"A:pass Bug:fail"}, change: []string{"A:pass Bug:pass"}}, ok: true, unproven: "the change is of documents alone"},
		"all files are set aside": {in: verdict.Input{Aside: []string{"conftest.py"}, AllAside: true},
			world: world{base: []string{"A:pass"}, change: []string{"A:pass"}}, why: "no file of the change was tested", unproven: "every file"},
	} {
		t.Run(name, func(t *testing.T) {
			j, r, cost := settle(t, c.in, c.world)
			if r.OK != c.ok || !c.ok && !strings.Contains(r.Why, c.why) {
				t.Errorf("it rules %+v, want %v for %q", r, c.ok, c.why)
			}
			if j.Shown != c.shown || !strings.HasPrefix(j.Unproven, c.unproven) || j.Shown == (j.Unproven != "") {
				t.Errorf("shown %v, unproven %q; want %v, %q", j.Shown, j.Unproven, c.shown, c.unproven)
			}
			if cost > 20 {
				t.Errorf("it takes %d runs", cost)
			}
			w := c.world
			w.skips = true
			if j2, r2, _ := settle(t, c.in, w); r2.OK != r.OK || j2.Shown != j.Shown || j2.Unproven != j.Unproven {
				t.Errorf("by a runner that lists other tests as skipped it rules %+v, shown %v, unproven %q", r2, j2.Shown, j2.Unproven)
			}
		})
	}
}

func TestARunWithoutNamesIsComparedAsAWhole(t *testing.T) {
	for name, c := range map[string]struct {
		base, change, proof []verdict.Run
		ok, shown, asks     bool
	}{
		"passes before and after":            {base: []verdict.Run{script(true, "")}, change: []verdict.Run{script(true, "")}, ok: true},
		"the change breaks it":               {base: []verdict.Run{script(true, "")}, change: []verdict.Run{script(false, "")}},
		"the same failure as before":         {base: []verdict.Run{script(false, "old")}, change: []verdict.Run{script(false, "old")}, ok: true},
		"another failure than before":        {base: []verdict.Run{script(false, "old")}, change: []verdict.Run{script(false, "new")}, asks: true},
		"a script of the tester was red":     {base: []verdict.Run{script(true, "")}, proof: []verdict.Run{script(false, ""), script(false, "")}, change: []verdict.Run{script(true, ""), script(true, "")}, ok: true, shown: true},
		"it was red, and the runner is gone": {base: []verdict.Run{script(true, "")}, proof: []verdict.Run{script(false, "sh: 1: mocha: not found"), script(false, "sh: 1: mocha: not found")}, change: []verdict.Run{script(true, ""), script(true, "")}, ok: true},
	} {
		t.Run(name, func(t *testing.T) {
			in := verdict.Input{OnBase: c.base, OnChange: c.change, OnProof: c.proof, Whole: true}
			if c.proof != nil {
				in.Written = []verdict.Written{{File: "spec.sh", By: "tester"}}
			}
			j, r := verdict.Judge(in)
			if r.OK != c.ok || j.Shown != c.shown || (j.Question != "") != c.asks {
				t.Errorf("%+v\n%+v", r, j)
			}
		})
	}
}

func TestFilesThatJudgeAreTestedBothWays(t *testing.T) {
	in := verdict.Input{Aside: []string{"greet.sh"}, OnBase: []verdict.Run{run("A:pass")}}
	bad, good := run("A:fail"), run("A:pass")

	in.OnChange, in.AsChanged = []verdict.Run{good}, &bad
	if j, r := verdict.Judge(in); r.OK || j.Ways.OK || !slices.Contains(r.Failing, "A") {
		t.Errorf("a change that passes only with the files of the base: %+v, %+v", r, j.Ways)
	}
	in.OnChange, in.AsChanged = []verdict.Run{bad}, &good
	if j, r := verdict.Judge(in); r.OK || !strings.Contains(j.Question, "greet.sh") {
		t.Errorf("a change that passes only with its own files: %+v, question %q", r, j.Question)
	}
	in.OnChange, in.AsChanged = []verdict.Run{good}, &good
	if j, r := verdict.Judge(in); !r.OK || !j.Ways.OK || j.Question != "" {
		t.Errorf("a change that passes both ways: %+v, %+v", r, j.Ways)
	}
}

func TestATestThatTheChangeRemovesIsMissed(t *testing.T) {
	tests := map[string]struct {
		base, proof, aside, changed verdict.Run
		accepted                    []verdict.Accepted
		gone, skipped               []string
	}{
		"a test of the base":       {run("A:pass B:pass"), run("A:pass B:pass"), run("A:pass B:pass"), run("A:pass"), nil, []string{"B"}, nil},
		"and another in its place": {run("A:pass B:pass"), run("A:pass B:pass"), run("A:pass B:pass"), run("A:pass Quux:pass"), nil, []string{"B"}, nil},
		"a test of the tester":     {run("A:pass"), run("A:pass B:fail"), run("A:pass B:pass"), run("A:pass"), nil, []string{"B"}, nil},
		"a test that it skips":     {run("A:pass B:pass"), run("A:pass B:pass"), run("A:pass B:pass"), run("A:pass B:skip"), nil, nil, []string{"B"}},
		"with another name": {run("A:pass TestNilIsEqual:pass"), run("A:pass TestNilIsEqual:pass"), run("A:pass TestNilIsEqual:pass"),
			run("A:pass TestNilIsNotEqual:pass"), nil, nil, nil},
		"a name that each run makes": {run("A:pass B@1:pass"), run("A:pass B@2:pass"), run("A:pass B@3:pass"), run("A:pass B@4:pass"), nil, nil, nil},
		"accepted by a person":       {run("A:pass B:pass"), run("A:pass B:pass"), run("A:pass B:pass"), run("A:pass"), []verdict.Accepted{{Name: "B", By: "ann"}}, nil, nil},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			j, r := verdict.Judge(verdict.Input{Aside: []string{"a_test.go"}, Written: []verdict.Written{{File: "a_test.go", By: "tester"}}, Accepted: c.accepted,
				OnBase: []verdict.Run{c.base}, OnProof: []verdict.Run{c.proof}, OnChange: []verdict.Run{c.aside}, AsChanged: &c.changed})
			missed := len(c.gone)+len(c.skipped) > 0
			if r.OK == missed || j.Ways.OK == missed || !slices.Equal(j.Gone.Names, c.gone) || !slices.Equal(j.NewlySkipped.Names, c.skipped) || missed && !strings.Contains(r.Why, "B") {
				t.Errorf("%+v: gone %v, skipped %v, %+v", r, j.Gone.Names, j.NewlySkipped.Names, j.Ways)
			}
		})
	}
}

func TestAPersonIsNotAskedAboutARemovedTest(t *testing.T) {
	as := run("A:pass")
	in := verdict.Input{Aside: []string{"a_test.go"}, Written: []verdict.Written{{File: "a_test.go", By: "tester"}}, OnBase: []verdict.Run{run("A:pass")},
		OnProof: []verdict.Run{run("A:pass B:fail")}, OnChange: []verdict.Run{run("A:pass B:fail")}, AsChanged: &as}
	if j, r := verdict.Judge(in); r.OK || j.Question != "" || !slices.Contains(r.Failing, "B") {
		t.Errorf("%+v, question %q", r, j.Question)
	}
}

func TestTheDevelopersOwnTestIsNamedAsNoProof(t *testing.T) {
	as := run("A:pass B:pass")
	j, r := verdict.Judge(verdict.Input{Aside: []string{"a_test.go"}, OnBase: []verdict.Run{run("A:pass")}, OnChange: []verdict.Run{run("A:pass")}, AsChanged: &as})
	const want = "tests of the role that wrote the code are no proof (B), and all others that ran passed before the change as well"
	if !r.OK || j.Shown || j.Unproven != want {
		t.Errorf("%+v: %q, want %q", r, j.Unproven, want)
	}
}

func TestATestThatAssertsWhatTheReportCallsWrongIsAskedAbout(t *testing.T) {
	in := verdict.Input{Wrong: "Helo", Wanted: "Hello", OnBase: []verdict.Run{run("A:pass")}, OnChange: []verdict.Run{run("A:fail")}}
	if j, r := verdict.Judge(in); r.OK || !strings.Contains(j.Question, "A passed before the change and asserts \"Helo\"") {
		t.Errorf("%+v, question %q", r, j.Question)
	}
	in.Accepted = []verdict.Accepted{{Name: "A", By: "ann"}}
	if j, r := verdict.Judge(in); !r.OK || len(j.Accepted) != 1 || j.Accepted[0].By != "ann" {
		t.Errorf("accepted by ann: %+v, %+v", r, j)
	}
}

func TestATestFileThatDoesNotLoadIsNoPass(t *testing.T) {
	broken := run("A:pass")
	broken.OK, broken.Output = false, "todo.test.js: SyntaxError" // and its tests are missing from the report
	in := verdict.Input{OnBase: []verdict.Run{run("A:pass B:pass")}, OnChange: []verdict.Run{broken}}
	if _, r := verdict.Judge(in); r.OK {
		t.Errorf("it rules %+v", r)
	}
	in.OnBase = []verdict.Run{run("A:pass")}
	if _, r := verdict.Judge(in); r.OK {
		t.Errorf("a new file that does not load: %+v", r)
	}
}

// outcomes draws the outcomes of some tests.
func outcomes(names []string) *rapid.Generator[map[string]string] {
	return rapid.Custom(func(t *rapid.T) map[string]string {
		m := map[string]string{}
		for _, name := range names {
			if o := rapid.SampledFrom([]string{"pass", "pass", "fail", "skip", ""}).Draw(t, name); o != "" {
				m[name] = o
			}
		}
		return m
	})
}

func text(m map[string]string) string {
	var all []string
	for name, o := range m {
		all = append(all, name+":"+o)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestNothingThatPassedMayFailAndNothingElseIsHeldAgainstAChange(t *testing.T) {
	names := []string{"Alpha", "Bravo", "Charlie", "Delta"}
	rapid.Check(t, func(t *rapid.T) {
		base, change := outcomes(names).Draw(t, "base"), outcomes(names).Draw(t, "change")
		j, r, _ := settle(t, verdict.Input{FlakeRuns: rapid.IntRange(0, 3).Draw(t, "flake runs")}, world{base: []string{text(base)}, change: []string{text(change)}})
		worse, ran, fixed := false, false, false
		for _, name := range names {
			b, c := base[name], change[name]
			ran = ran || c == "pass" || c == "fail"
			worse = worse || b == "pass" && c != "pass" || b == "skip" && c == "fail" || b == "" && c == "fail"
			fixed = fixed || b == "fail" && c == "pass"
		}
		if want := !worse && ran; r.OK != want {
			t.Errorf("it rules %+v, want %v", r, want)
		}
		if j.Shown != (r.OK && fixed) {
			t.Errorf("shown %v; a red test of the base is green: %v", j.Shown, fixed)
		}
		if j.Shown == (j.Unproven != "") {
			t.Errorf("shown %v, unproven %q", j.Shown, j.Unproven)
		}
		for _, name := range slices.Concat(j.BaseFailures.Names, j.Fixed.Names) {
			if base[name] != "fail" {
				t.Errorf("%s did not fail on the base", name)
			}
		}
	})
}

func TestTheSameRunsBeforeAndAfterShowNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		same := text(outcomes([]string{"Alpha", "Bravo", "Charlie"}).Draw(t, "runs"))
		j, _, _ := settle(t, verdict.Input{FlakeRuns: 2, Written: written}, world{base: []string{same}, change: []string{same}, proof: []string{same}})
		if j.Shown {
			t.Errorf("%q on both shows %+v", same, j.Tests)
		}
	})
}

func TestTheCauseOfAFailureIsReadFromItsOutput(t *testing.T) {
	for output, want := range map[string]verdict.Cause{
		"a_test.go:9: got 1, want 2":        verdict.Assertion,
		"":                                  verdict.Assertion,
		"AssertionError: 1 != 2":            verdict.Assertion,
		"./a_test.go:9:2: undefined: Greet": verdict.Compile,
		"ImportError: cannot import name 'greet' from 'greeting'":  verdict.Compile,
		"ModuleNotFoundError: No module named 'greet'":             verdict.Compile,
		"error[E0425]: cannot find function `greet` in this scope": verdict.Compile,
		"TypeError: greet is not a function":                       verdict.Compile,
		"sh: 1: mocha: not found":                                  verdict.Compile,
		"panic: test timed out after 1s":                           verdict.Timeout,
	} {
		if got := verdict.CauseOf(output); got != want {
			t.Errorf("%q is %s, want %s", output, got, want)
		}
	}
	for output, want := range map[string]string{
		"./a_test.go:9:2: undefined: Greet":                        "Greet",
		"./a_test.go:9:2: undefined: greeting.Greet":               "Greet",
		"ImportError: cannot import name 'greet' from 'greeting'":  "greet",
		"error[E0425]: cannot find function `greet` in this scope": "greet",
		"TypeError: lib.greet is not a function":                   "greet",
		"a_test.go:9: got 1, want 2":                               "",
	} {
		if got := verdict.MissingIn(output); got != want {
			t.Errorf("%q misses %q, want %q", output, got, want)
		}
	}
}

func ExampleJudge() {
	j, r := verdict.Judge(verdict.Input{
		Base: "b", Change: "c",
		OnBase:   []verdict.Run{run("TestHello:fail"), run("TestHello:fail")},
		OnChange: []verdict.Run{run("TestHello:pass"), run("TestHello:pass")},
	})
	fmt.Println(r.OK, j.Shown, j.Tests[0].Name)
	// Output: true true TestHello
}

// A test that is limited in time fails where all tests run at once, and passes alone. Ten
// runs of it alone on the base would blame the change.
func TestAFlipAmongAllTestsIsLookedForAmongAllTestsOfTheBase(t *testing.T) {
	in := verdict.Input{FlakeRuns: 2, Base: "base", Change: "change", OnBase: []verdict.Run{run("A:pass Slow:pass")}, OnChange: []verdict.Run{run("A:pass Slow:fail")}}
	alone := run("Slow:pass")
	alone.Only = []string{"Slow"}
	in.OnChange = append(in.OnChange, alone)
	req, ok := verdict.Next(in)
	if !ok || req.On != verdict.OnBase || req.Names != nil {
		t.Fatalf("it asks for %+v, %v", req, ok)
	}
	for range 10 {
		in.OnBase = append(in.OnBase, alone)
	}
	if j, r := verdict.Judge(in); !r.OK || j.MadeFlaky.Len() > 0 {
		t.Errorf("ten runs of the test alone blame the change: %+v", r)
	}
	for range 9 {
		in.OnBase = append(in.OnBase, run("A:pass Slow:pass"))
	}
	if j, r := verdict.Judge(in); r.OK || j.MadeFlaky.Len() != 1 {
		t.Errorf("ten runs of all tests do not: %+v, %+v", r, j.MadeFlaky)
	}
	in.OnBase = append(in.OnBase, run("A:pass Slow:fail"))
	if j, r := verdict.Judge(in); !r.OK || len(j.Flaky) != 1 || j.Flaky[0].Name != "Slow" {
		t.Errorf("a flake of the base: %+v, %+v", r, j.Flaky)
	}
}

func TestAnAcceptedChangeOfAnOldRedTestIsNamed(t *testing.T) {
	w := world{base: []string{"A:pass Old:fail"}, change: []string{"A:pass Old:pass"}, proof: []string{"A:pass Old:pass"}}
	for name, c := range map[string]struct {
		in verdict.Input
		by string // empty: it is refused, and asked about
	}{
		"by the tester's hand":                  {verdict.Input{Written: written}, "tester"},
		"by the developer's":                    {verdict.Input{Written: []verdict.Written{{File: "a_test.go", By: "developer", Self: true}}}, ""},
		"by the developer's, and ann agreed":    {verdict.Input{Written: []verdict.Written{{File: "a_test.go", By: "developer", Self: true}}, Accepted: []verdict.Accepted{{Name: "Old", By: "ann"}}}, "ann"},
		"where the developer's tests are taken": {verdict.Input{Written: []verdict.Written{{File: "a_test.go", By: "developer", Self: true}}, Lost: true}, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			j, r, _ := settle(t, c.in, w)
			if r.OK != (c.by != "") || (j.Question != "") != (c.by == "") {
				t.Errorf("it rules %+v, question %q", r, j.Question)
			}
			if named := len(j.Accepted) == 1 && j.Accepted[0] == (verdict.Accepted{Name: "Old", By: c.by}); named != (c.by != "" && c.by != "-") {
				t.Errorf("accepted are %+v", j.Accepted)
			}
			if named := slices.Contains(j.Rewritten.Names, "Old"); named != (c.by == "" || c.by == "-") {
				t.Errorf("rewritten are %+v", j.Rewritten)
			}
			if j.Shown || slices.Contains(j.Fixed.Names, "Old") {
				t.Errorf("it counts as fixed: %+v", j)
			}
		})
	}
}
