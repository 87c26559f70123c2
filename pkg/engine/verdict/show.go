package verdict

import (
	"slices"
	"strings"
)

// twice is how often a test has to fail on the base and to pass on the change.
const twice = 2

// show finds the tests that show the change to be a solution, or the reason why none does.
func (j judge) show(out *Judgement) {
	out.Tests = nil
	reasons := j.reasons(out)
	for _, name := range j.candidates() {
		t, why := j.shows(name)
		if why == "" {
			out.Tests = append(out.Tests, t)
		} else {
			reasons = append(reasons, why)
		}
	}
	reasons = append(reasons, j.unloaded()...)
	out.Shown = len(out.Tests) > 0 && out.Kind != Documents && j.Distrust == ""
	switch {
	case out.Shown:
	case j.Distrust != "":
		out.Unproven, out.Tests = j.Distrust, nil
	case out.Kind == Documents:
		out.Unproven, out.Tests = "the change is of documents alone", nil
	case len(reasons) > 0:
		out.Unproven = reasons[0]
	default:
		out.Unproven = "all tests that ran passed before the change as well"
		if own := j.ownTests(); len(own) > 0 {
			out.Unproven = "tests of the role that wrote the code are no proof (" + list(own) + "), and all others that ran passed before the change as well"
		}
	}
}

// ownTests lists the tests that only the files which were set aside have: those of the role
// that wrote the code.
func (j judge) ownTests() []string {
	if j.AsChanged == nil {
		return nil
	}
	var own []string
	for name, h := range at(j.whole, []Run{*j.AsChanged}, false).tests {
		_, base := j.base.tests[name]
		if _, aside := j.change.tests[name]; h.pass > 0 && !base && !aside && name != j.whole {
			own = append(own, name)
		}
	}
	slices.Sort(own)
	return own
}

// reasons lists the reasons for which nothing can be shown that are of no single test.
func (j judge) reasons(out *Judgement) []string {
	var all []string
	switch {
	case len(j.OnChange) == 0:
		all = append(all, "no test ran")
	case j.AllAside:
		all = append(all, "every file of the change decides how it is tested")
	case j.OnChange[0].Named && out.ChangeCount.Passed == 0:
		all = append(all, "no test passed")
	}
	return all
}

// candidates lists the tests that may show the change to be a solution: those that failed
// on the base, alone or with the test files of the change added, and those of these files
// that only load on the change.
func (j judge) candidates() []string {
	found := map[string]bool{}
	for _, p := range []place{j.base, j.proof} {
		for name, h := range p.tests {
			found[name] = found[name] || h.fail > 0 && h.last.Cause != Compile
		}
	}
	if _, broken := j.compileFailure(); broken {
		for _, name := range j.fresh() {
			found[name] = true
		}
	}
	if len(j.OnProof) > 0 { // tests that pass without the change have a reason, too
		for _, name := range j.fresh() {
			found[name] = true
		}
	}
	var names []string
	for name, is := range found {
		if is && j.change.of(name).pass > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// unloaded lists the reasons of tests that did not load on the base and pass on the change.
// They are no proof: the change may have made their files, and nothing else.
func (j judge) unloaded() []string {
	var all []string
	for name, h := range j.base.tests {
		if h.fail > 0 && h.last.Cause == Compile && j.change.of(name).pass > 0 {
			all = append(all, name+" did not load before the change; no assertion failed")
		}
	}
	slices.Sort(all)
	return all
}

// fresh lists the tests of written files, or without any, those that the base does not
// have, sorted.
func (j judge) fresh() []string {
	var names []string
	for name, h := range j.change.tests {
		b := j.base.of(name)
		if b.pass+b.fail+b.skip == 0 || j.writer(h.last.File) != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// shows returns the proof that a test gives, or why it gives none.
func (j judge) shows(name string) (t ShownTest, why string) {
	red, on := j.proof.of(name), j.change.of(name)
	if len(j.OnProof) == 0 {
		red = j.base.of(name)
	}
	t = ShownTest{Name: name, By: j.by(name), Base: j.Base, Change: j.Change, Cause: red.last.Cause, Output: red.last.Output}
	if red.pass+red.fail == 0 {
		if f, ok := j.compileFailure(); ok { // its file does not load there
			red, t.Cause, t.Output = history{fail: j.failures(f.Name), last: f}, Compile, f.Output
		}
	}
	switch {
	case red.flaky() || on.flaky():
		return t, name + " is flaky: it passes and fails on one commit"
	case red.fail == 0 && red.pass > 0:
		return t, name + " passes on the base as well"
	case red.fail == 0:
		return t, name + " was not run on the base"
	case t.Cause == Compile && !mentions(j.Words, red.last.Missing) && red.last.Missing == "":
		return t, name + " does not load on the base, and its output does not name what is missing"
	case t.Cause == Compile && !mentions(j.Words, red.last.Missing):
		return t, name + " does not load on the base for want of " + red.last.Missing + ", which the report does not name"
	case t.Cause == Timeout:
		return t, name + " does not end on the base; no assertion fails"
	case t.Cause != Assertion && t.Cause != Compile:
		return t, "the output of " + name + " does not show why it fails on the base"
	case red.fail < twice:
		return t, name + " failed on the base only once"
	case on.pass < twice:
		return t, name + " passed on the change only once"
	}
	return t, ""
}

// compileFailure returns what did not load on the base with the test files added.
func (j judge) compileFailure() (Test, bool) {
	for _, r := range j.OnProof {
		for _, t := range r.effective(j.whole) {
			if t.Outcome == Fail && t.Cause == Compile {
				if t.Missing == "" {
					t.Missing = MissingIn(t.Output)
				}
				return t, true
			}
		}
	}
	return Test{}, false
}

func (j judge) failures(name string) int { return j.proof.tests[name].fail }

// by returns the role that wrote a test; empty if the base has the test as it is.
func (j judge) by(name string) string {
	if by := j.writer(j.change.tests[name].last.File); by != "" {
		return by
	}
	b := j.base.of(name)
	if len(j.OnProof) == 0 || b.fail > 0 && b.pass == 0 || len(j.Written) == 0 {
		return ""
	}
	return j.Written[0].By
}

// writer returns the role that wrote a file of tests; empty for none.
func (j judge) writer(file string) string {
	for _, w := range j.Written {
		if w.File == file || file != "" && strings.HasSuffix(w.File, "/"+file) {
			return w.By
		}
	}
	return ""
}
