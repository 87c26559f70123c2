package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Ruling is whether a change may go on, by its tests alone.
type Ruling struct {
	OK      bool
	Why     string   // in a sentence, if it may not
	Failing []string // the tests, if it may not
}

// judge holds an input by place.
type judge struct {
	Input
	base, change, proof place
	accepted            map[string]string // by the name of the test, who accepted its change
	whole               string            // the name of a run as a whole: its command
}

func open(in Input) judge {
	whole := ""
	if len(in.OnBase) > 0 {
		whole = in.OnBase[0].Command
	}
	j := judge{in, at(whole, in.OnBase, false), at(whole, in.OnChange, false), at(whole, in.OnProof, true), map[string]string{}, whole}
	for _, a := range in.Accepted {
		j.accepted[a.Name] = a.By
	}
	return j
}

// Judge compares the tests of a change with those of its base, and rules whether the change
// may go on. The rule is a difference: a test that passed on the base has to pass on the
// change, unless its change was accepted by name, and a test that fails on the base is not
// held against the change. Ask Next first which further runs are needed.
func Judge(in Input) (Judgement, Ruling) {
	j := open(in)
	out := Judgement{
		Kind: cmp.Or(in.Kind, Code), Base: in.Base, Change: in.Change, Findings: slices.Clone(in.Findings),
		BaseCount: counted(in.BaseCount, in.OnBase), ChangeCount: counted(in.ChangeCount, in.OnChange),
	}
	failing := j.compare(&out)
	j.ways(&out, failing)
	j.show(&out)
	if n := out.BaseCount.total() - out.ChangeCount.total(); n > 0 && out.ChangeCount.total() > 0 {
		out.Findings = append(out.Findings, fmt.Sprintf("%d of %d tests are gone", n, out.BaseCount.total()))
	}
	if n := out.ChangeCount.Skipped - out.BaseCount.Skipped; n > 0 {
		out.Findings = append(out.Findings, fmt.Sprintf("%d tests are skipped, %d more than before", out.ChangeCount.Skipped, n))
	}
	r := j.rule(&out)
	if !r.OK && out.Shown {
		out.Shown, out.Unproven, out.Tests = false, "the change does not pass: "+r.Why, nil
	}
	return out.Bounded(), r
}

// compare sorts all tests into the lists of the judgement. It returns the tests that fail on
// the change and may not.
func (j judge) compare(out *Judgement) []string {
	var lists struct{ baseFailures, fixed, broken, red, gone, skipped, made, rewritten []string }
	for _, name := range j.names() {
		b, c := j.base.of(name), j.change.of(name)
		fresh := b.pass+b.fail+b.skip == 0 // the base does not have it
		by, accepted := j.acceptedBy(name)
		switch {
		case c.flaky() && (fresh || b.fail > 0 || b.steady(c) < baseRuns):
			out.Flaky = append(out.Flaky, j.flake(name, b, c))
		case c.flaky():
			lists.made = append(lists.made, name)
			out.Flaky = append(out.Flaky, j.flake(name, b, c))
		case b.flaky():
			out.Flaky = append(out.Flaky, j.flake(name, b, c))
		case c.fail > 0 && fresh:
			lists.red = append(lists.red, name)
		case c.fail > 0 && b.fail > 0 && !j.same(name):
			lists.broken = append(lists.broken, name)
		case c.fail > 0 && b.fail > 0:
			lists.baseFailures = append(lists.baseFailures, name)
		case c.fail > 0 && accepted:
			out.Accepted = append(out.Accepted, Accepted{name, by})
		case c.fail > 0:
			lists.broken = append(lists.broken, name)
		case b.fail > 0 && j.rewritten(name) && (accepted || j.byTesters()):
			out.Accepted = append(out.Accepted, Accepted{name, cmp.Or(by, j.Written[0].By)})
		case b.fail > 0 && j.rewritten(name):
			lists.rewritten = append(lists.rewritten, name)
		case c.pass > 0 && b.fail > 0:
			lists.fixed = append(lists.fixed, name)
		case c.skip > 0 && b.pass > 0 && accepted, c.pass+c.skip == 0 && b.pass > 0 && accepted:
			out.Accepted = append(out.Accepted, Accepted{name, by})
		case c.skip > 0 && b.pass > 0:
			lists.skipped = append(lists.skipped, name)
		case c.pass+c.skip == 0 && b.pass > 0:
			lists.gone = append(lists.gone, name)
		case c.pass+c.skip == 0 && b.fail > 0:
			lists.baseFailures = append(lists.baseFailures, name) // gone, and nobody misses it
		}
	}
	lists.gone = j.rename(out, lists.gone)
	out.Rewritten = NamesOf(lists.rewritten)
	out.BaseFailures, out.Fixed, out.Broken, out.StillRed = NamesOf(lists.baseFailures), NamesOf(lists.fixed), NamesOf(lists.broken), NamesOf(lists.red)
	out.Gone, out.NewlySkipped, out.MadeFlaky = NamesOf(lists.gone), NamesOf(lists.skipped), NamesOf(lists.made)
	return slices.Concat(lists.broken, lists.red)
}

// rewritten reports whether a test that fails on the base each time does so no more because
// its file was changed: with the test files of the change added to the base it passes each
// time, or is gone or skipped there, too.
func (j judge) rewritten(name string) bool {
	b, p, c := j.base.of(name), j.proof.of(name), j.change.of(name)
	switch {
	case !j.mayBeRewritten(name):
		return false
	case c.pass > 0:
		return b.fail >= twice && p.pass >= twice
	}
	return j.writer(b.last.File) != ""
}

// mayBeRewritten reports whether the runs so far look like those of a test whose file was
// changed so that it fails no more.
func (j judge) mayBeRewritten(name string) bool {
	b, p, c := j.base.of(name), j.proof.of(name), j.change.of(name)
	if len(j.OnProof) == 0 || name == j.whole || b.fail == 0 || b.pass > 0 || p.fail > 0 || c.fail > 0 || b.last.Cause == Compile {
		return false
	}
	return (c.pass == 0 || p.pass > 0) && (b.last.File == "" || j.writer(b.last.File) != "")
}

// byTesters reports whether testers or people wrote all test files of the change.
func (j judge) byTesters() bool {
	return len(j.Written) > 0 && !slices.ContainsFunc(j.Written, func(w Written) bool { return w.Self })
}

// same reports whether a test that fails on both commits may be taken for the same failure.
// A test by name is; of a run as a whole the outputs have to be equal.
func (j judge) same(name string) bool {
	if name != j.whole {
		return true
	}
	return slices.ContainsFunc(j.OnBase, func(r Run) bool { return r.Output == j.change.tests[name].last.Output })
}

// names lists the tests that the base or the change has, sorted.
func (j judge) names() []string {
	all := map[string]bool{}
	for _, p := range []place{j.base, j.change} {
		for name := range p.tests {
			all[name] = true
		}
	}
	for _, name := range j.Listed {
		if _, ran := j.base.tests[name]; ran {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func (j judge) flake(name string, b, c history) Flake {
	f := Flake{Name: name}
	if b.pass+b.fail > 0 {
		f.Runs = append(f.Runs, Tally{j.Base, b.pass, b.fail})
	}
	if c.pass+c.fail > 0 {
		f.Runs = append(f.Runs, Tally{j.Change, c.pass, c.fail})
	}
	return f
}

// acceptedBy returns who accepted a change of the test: by its name, or by writing its file.
func (j judge) acceptedBy(name string) (by string, ok bool) {
	if by, ok = j.accepted[name]; ok {
		return by, true
	}
	if short := lastWord(name); j.accepted[short] != "" {
		return j.accepted[short], true
	}
	for _, p := range []place{j.base, j.change} {
		if file := p.tests[name].last.File; file != "" {
			for _, w := range j.Written {
				if w.File == file && j.isTester(w.By) {
					return w.By, true
				}
			}
		}
	}
	return "", false
}

// isTester reports whether a role's word on tests is taken without a question: that of
// testers and people. Written has the role developer only where it has no tester.
func (j judge) isTester(by string) bool {
	return slices.ContainsFunc(j.Written, func(w Written) bool { return w.By == by && !w.Self })
}

// lastWord is the name of a test without its package or file.
func lastWord(name string) string {
	name = name[strings.LastIndexAny(name, " >")+1:]
	if i := strings.LastIndex(name, "::"); i >= 0 {
		return name[i+2:]
	}
	return name[strings.LastIndexByte(name, '.')+1:]
}

// rename takes tests out of the gone ones that have another name in the same file now.
func (j judge) rename(out *Judgement, gone []string) []string {
	if len(gone) == 0 {
		return gone
	}
	fresh := map[string][]string{} // by file or package
	for _, name := range slices.Sorted(maps.Keys(j.change.tests)) {
		if h := j.change.tests[name]; h.pass > 0 && h.fail == 0 && j.base.of(name).pass+j.base.of(name).fail+j.base.of(name).skip == 0 {
			fresh[j.home(h.last)] = append(fresh[j.home(h.last)], name)
		}
	}
	return slices.DeleteFunc(gone, func(name string) bool {
		home := j.home(j.base.tests[name].last)
		if len(fresh[home]) == 0 {
			return false
		}
		best := slices.MaxFunc(fresh[home], func(a, b string) int { return cmp.Compare(alike(name, a), alike(name, b)) })
		if alike(name, best) < 0.5 {
			return false
		}
		fresh[home] = slices.DeleteFunc(fresh[home], func(s string) bool { return s == best })
		out.Renamed = append(out.Renamed, Rename{name, best})
		return true
	})
}

// home is where a test is: its file, or what stands before its name.
func (j judge) home(t Test) string {
	if t.File != "" {
		return t.File
	}
	return strings.TrimSuffix(t.Name, lastWord(t.Name))
}

// alike is how much two names have in common, 0 to 1: the share of pairs of letters.
func alike(a, b string) float64 {
	a, b = strings.ToLower(lastWord(a)), strings.ToLower(lastWord(b))
	pairs := func(s string) map[string]int {
		m := map[string]int{}
		for i := range len(s) - 1 {
			m[s[i:i+2]]++
		}
		return m
	}
	x, y := pairs(a), pairs(b)
	common := 0
	for p, n := range x {
		common += min(n, y[p])
	}
	if len(a)+len(b) < 4 {
		return 0
	}
	return 2 * float64(common) / float64(len(a)+len(b)-2)
}

// ways compares the two runs of a change that touches files which decide how it is tested.
func (j judge) ways(out *Judgement, failing []string) {
	if len(j.Aside) == 0 {
		return
	}
	w := &BothWays{Files: NamesOf(slices.Clone(j.Aside)), Aside: ending(failing, j.OnChange)}
	out.Ways = w
	out.Findings = append(out.Findings, "the change touches what tests it; tested without that: "+list(j.Aside))
	if j.AsChanged == nil {
		w.Changed, w.OK = "not run", len(failing) == 0
		return
	}
	as := judge{Input: j.Input, base: j.base, change: at(j.whole, []Run{*j.AsChanged}, false), accepted: j.accepted, whole: j.whole}
	as.OnChange = []Run{*j.AsChanged}
	var other Judgement
	fails := as.compare(&other)
	lost := slices.Concat(other.Gone.Names, other.NewlySkipped.Names)
	for _, f := range out.Flaky { // what is known to be a flake is one here, too
		fails = slices.DeleteFunc(fails, func(name string) bool { return name == f.Name })
	}
	w.Changed = ending(slices.Concat(fails, lost), as.OnChange)
	w.OK = len(failing) == 0 && len(fails) == 0
	gone, skipped := j.removed(as)
	removed := slices.Concat(gone, skipped)
	switch {
	case len(fails) > 0 && len(failing) == 0:
		out.Broken = NamesOf(slices.Concat(out.Broken.Names, fails))
		out.Findings = append(out.Findings, "the change fails with all its files, and passes only with "+list(j.Aside)+" as on the base")
	case len(fails) == 0 && len(failing) > 0 && len(lost)+len(removed) == 0: // else it goes back to the role that removed them
		out.Question = fmt.Sprintf("The tests pass only with the change to %s. With these files as before: %s. "+
			"With all files of the change: %s. Is this change to the tests right?", list(j.Aside), w.Aside, w.Changed)
	case len(fails) == 0 && len(failing) == 0 && len(removed) > 0:
		out.Gone, out.NewlySkipped = NamesOf(slices.Concat(out.Gone.Names, gone)), NamesOf(slices.Concat(out.NewlySkipped.Names, skipped))
		w.OK, w.Changed = false, list(removed)+" not run"
		out.Findings = append(out.Findings, fmt.Sprintf("%s %s with %s as before, and with the change to it %s not run", list(removed),
			verb(len(removed), "passes", "pass"), list(j.Aside), verb(len(removed), "is", "are")))
	}
}

// removed returns the tests that run with the files that judge as they were, and are not run or
// skipped with all files of the change. A test whose name is another one in each run is none of
// them: the base has to have the name, with the test files added.
func (j judge) removed(as judge) (gone, skipped []string) {
	for _, name := range slices.Sorted(maps.Keys(j.change.tests)) {
		_, base := j.base.tests[name]
		_, proof := j.proof.tests[name]
		before, after := j.change.of(name), as.change.of(name)
		switch accepted := j.accepted[name] != "" || j.accepted[lastWord(name)] != ""; {
		case !base && !proof, name == j.whole, before.pass+before.fail == 0, accepted, after.pass+after.fail > 0:
		case after.skip > 0:
			skipped = append(skipped, name)
		default:
			gone = append(gone, name)
		}
	}
	before := judge{Input: j.Input, base: j.change, change: as.change, whole: j.whole}
	return before.rename(&Judgement{}, gone), skipped
}

// ending is how the runs of a place ended, in words.
func ending(failing []string, runs []Run) string {
	if len(failing) > 0 {
		return list(failing) + " " + verb(len(failing), "fails", "fail")
	}
	if len(runs) == 0 {
		return "not run"
	}
	return "passes"
}

// rule decides whether the change may go on. The first reason that holds is given.
func (j judge) rule(out *Judgement) Ruling {
	j.ask(out)
	refuse := func(names []string, format string, args ...any) Ruling {
		return Ruling{Why: fmt.Sprintf(format, args...), Failing: names}
	}
	count := out.ChangeCount
	switch {
	case j.AllAside:
		return refuse(nil, "no file of the change was tested: %s %s how it is tested", list(j.Aside), verb(len(j.Aside), "decides", "decide"))
	case out.Broken.Len() > 0 && j.unjudgeable(out.Broken.Names):
		return refuse(out.Broken.Names, "the tests fail on the base, they print no names, and the output of the change is another one")
	case out.Broken.Len() > 0:
		return refuse(out.Broken.Names, "%s passed before the change and %s now", list(out.Broken.Names), verb(out.Broken.Len(), "fails", "fail"))
	case out.StillRed.Len() > 0:
		return refuse(out.StillRed.Names, "%s still %s", list(out.StillRed.Names), verb(out.StillRed.Len(), "fails", "fail"))
	case out.MadeFlaky.Len() > 0:
		return refuse(out.MadeFlaky.Names, "the change makes %s flaky: it passes each time on the base, and only sometimes on the change",
			list(out.MadeFlaky.Names))
	case out.Rewritten.Len() > 0 && !j.Lost:
		return refuse(out.Rewritten.Names, "%s failed before the change, and %s no more only because %s changed", list(out.Rewritten.Names),
			verb(out.Rewritten.Len(), "does so", "do so"), verb(out.Rewritten.Len(), "the test was", "the tests were"))
	case out.Gone.Len() > 0 && !j.Lost:
		return refuse(out.Gone.Names, "%s passed before the change and %s not run now", list(out.Gone.Names), verb(out.Gone.Len(), "is", "are"))
	case out.NewlySkipped.Len() > 0 && !j.Lost:
		return refuse(out.NewlySkipped.Names, "%s passed before the change and %s skipped now", list(out.NewlySkipped.Names),
			verb(out.NewlySkipped.Len(), "is", "are"))
	case out.BaseCount.total() > 0 && count.total() == 0:
		return refuse(nil, "nothing was tested: none of the %d tests that run on the base ran", out.BaseCount.total())
	case len(j.OnChange) > 0 && j.OnChange[0].Named && count.Passed+count.Failed == 0:
		return refuse(nil, "nothing was tested: no test ran")
	case !j.loaded(out):
		return refuse(nil, "%s fails, and no test that it reports explains it", j.OnChange[0].Command)
	}
	return Ruling{OK: true}
}

// loaded reports whether a run that failed is explained by tests that may fail.
func (j judge) loaded(out *Judgement) bool {
	if len(j.OnChange) == 0 || j.OnChange[0].OK {
		return true
	}
	return out.BaseFailures.Len()+len(out.Flaky)+len(out.Accepted) > 0
}

// unjudgeable reports whether only a run as a whole is broken, and it failed on the base too,
// by a runner that prints no names.
func (j judge) unjudgeable(broken []string) bool {
	return len(broken) == 1 && len(j.OnBase) > 0 && broken[0] == j.whole && !j.OnBase[0].OK && !j.OnBase[0].Named
}

// ask sets the question that no rule decides: whether a test that the change breaks asserts
// what the report calls wrong, and what a red base without names means.
func (j judge) ask(out *Judgement) {
	if out.Question != "" {
		return
	}
	if j.unjudgeable(out.Broken.Names) {
		out.Question = fmt.Sprintf("%s fails on the base and prints no names of tests, so nothing can be judged. Its output changed. Is the change right?",
			j.OnBase[0].Command)
		return
	}
	if out.Rewritten.Len() > 0 && !j.Lost {
		out.Question = fmt.Sprintf("%s failed before the change. The product is not what makes it pass: its test was changed. Is that change right?",
			list(out.Rewritten.Names))
		return
	}
	if j.Wrong == "" || j.Wanted == "" {
		return
	}
	for _, name := range out.Broken.Names {
		output := j.change.tests[name].last.Output
		if strings.Contains(output, j.Wrong) && strings.Contains(output, j.Wanted) {
			out.Question = fmt.Sprintf("%s passed before the change and asserts %q, which the report calls wrong. Should it be changed?", name, j.Wrong)
			return
		}
	}
}

func (c Count) total() int { return c.Passed + c.Failed + c.Skipped }

// counted returns the runner's own count or, if there is none, that of the first run.
func counted(own Count, runs []Run) Count {
	if own.total() > 0 || len(runs) == 0 {
		return own
	}
	for _, t := range runs[0].Tests {
		switch t.Outcome {
		case Pass:
			own.Passed++
		case Fail:
			own.Failed++
		case Skip:
			own.Skipped++
		}
	}
	return own
}

// list names a few of many.
func list(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
