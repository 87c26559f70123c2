package verdict

import (
	"slices"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
)

// Next returns the runs that are needed before the input can be judged. ok is false if
// there are enough. Call it again with the runs added; it ends after a few rounds.
func Next(in Input) (want Request, ok bool) {
	if len(in.OnBase) == 0 || len(in.OnChange) == 0 {
		return Request{}, false
	}
	j := open(in)
	for _, more := range []func() (Request, bool){j.doubts, j.flips, j.prove, j.confirm} {
		if want, ok = more(); ok {
			if j.Whole {
				want.Names = nil
			}
			return want, true
		}
	}
	return Request{}, false
}

// doubts asks for the tests again that passed on the base and fail on the change: there
// first, then on the base.
func (j judge) doubts() (Request, bool) {
	var onChange, onBase []string
	for _, name := range j.names() {
		b, c := j.base.of(name), j.change.of(name)
		lost := c.pass+c.fail == 0 && b.pass > 0 && c.skip > 0
		switch {
		case b.flaky() || c.flaky() || b.fail > 0 && j.same(name):
		case c.fail > 0 && c.fail <= j.FlakeRuns, lost && c.skip <= min(1, j.FlakeRuns):
			onChange = append(onChange, name)
		case c.fail > 0 && b.pass > 0 && b.pass <= j.FlakeRuns:
			onBase = append(onBase, name)
		}
	}
	if req, ok := some(OnChange, onChange, 1); ok {
		return req, true
	}
	return some(OnBase, onBase, 1)
}

// stepOfFlips is how many runs of the base are asked for at a time: the first failure there
// ends the question.
const stepOfFlips = 3

// flips asks whether tests that flip on the change flip on the base, too, in runs of the
// kind in which they failed on the change.
func (j judge) flips() (Request, bool) {
	var names []string
	runs, all := 0, false
	for _, name := range j.names() {
		b, c := j.base.of(name), j.change.of(name)
		if more := baseRuns - b.steady(c); c.flaky() && b.fail == 0 && b.pass > 0 && more > 0 {
			names, runs, all = append(names, name), max(runs, more), all || c.onlyAmongAll()
		}
	}
	req, ok := some(OnBase, names, min(runs, stepOfFlips))
	if all {
		req.Names = nil
	}
	return req, ok
}

// prove asks for the tests of the change on the base, twice.
func (j judge) prove() (Request, bool) {
	if len(j.Written) == 0 || j.Kind == Documents || j.AllAside {
		return Request{}, false
	}
	if len(j.OnProof) >= twice {
		return Request{}, false
	}
	if len(j.OnProof) == 0 {
		names := j.fresh()
		for name, h := range j.base.tests { // a change of the test may be all that makes it pass
			if c := j.change.of(name); len(names) > 0 && h.fail > 0 && c.pass > 0 && name != j.whole && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		if len(names) > maxRerun || slices.ContainsFunc(j.Written, func(w Written) bool { return !source.MatchString(w.File) }) {
			names = nil // what a changed file of data is read by, nobody knows
		}
		return Request{OnProof, names, 1}, true
	}
	var red []string
	for _, name := range j.candidates() {
		if p := j.proof.of(name); p.fail > 0 && !p.flaky() && p.fail < twice {
			red = append(red, name)
		}
	}
	_, compile := j.compileFailure()
	switch {
	case compile:
		return Request{OnProof, j.OnProof[0].Only, 1}, true
	case len(red) == 0:
		return Request{}, false // they pass on the base, too
	}
	return some(OnProof, red, 1)
}

// source matches files of code by their names.
var source = lazyregexp.New(`\.(?:go|py|[cm]?[jt]sx?|rs|rb|java|kt|scala|groovy|cs|fs|swift|php|exs?|dart|c|cc|cpp|h|hpp|hs)$`)

// confirm asks for a second failure on the base and a second pass on the change of tests
// that may show the change to be a solution.
func (j judge) confirm() (Request, bool) {
	if j.Kind == Documents {
		return Request{}, false
	}
	var onBase, onChange []string
	for _, name := range j.candidates() {
		b, p, c := j.base.of(name), j.proof.of(name), j.change.of(name)
		if len(j.OnProof) == 0 {
			p = b
		}
		compile := p.pass+p.fail == 0
		if _, broken := j.compileFailure(); compile && !broken || c.fail > 0 || !compile && (p.fail == 0 || p.flaky()) {
			continue
		}
		if len(j.OnProof) == 0 && b.fail > 0 && b.fail < twice {
			onBase = append(onBase, name)
		}
		if c.pass < twice {
			onChange = append(onChange, name)
		}
	}
	var onProof []string
	for _, name := range j.names() {
		if !j.mayBeRewritten(name) || j.change.of(name).pass == 0 {
			continue
		}
		if j.base.of(name).fail < twice {
			onBase = append(onBase, name)
		}
		if j.proof.of(name).pass < twice {
			onProof = append(onProof, name)
		}
	}
	for _, more := range []struct {
		on    Place
		names []string
	}{{OnBase, onBase}, {OnProof, onProof}} {
		if req, ok := some(more.on, more.names, 1); ok {
			return req, true
		}
	}
	return some(OnChange, onChange, 1)
}

// some asks for tests by name, if there are any and not too many.
func some(on Place, names []string, times int) (Request, bool) {
	if len(names) == 0 {
		return Request{}, false
	}
	if len(names) > maxRerun {
		names = nil
	}
	return Request{on, names, times}, true
}
