package testrun

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
)

// Limits of the output of go test -json kept while it runs, in bytes.
const (
	maxEvent    = 1 << 20  // of one line
	maxTestSaid = 64 << 10 // of each end of one test's output
)

// goEvent is a line of go test -json (go doc test2json).
type goEvent struct {
	Action      string
	Package     string
	Test        string
	Output      string
	ImportPath  string
	FailedBuild string
}

// goEvents parses the output of go test -json that is written to it. It ignores
// other lines.
type goEvents struct {
	line     []byte // begun, not ended
	builds   map[string]*said
	packages map[string]map[string]*goTest
}

// goTest is the state of a test or, with an empty name, of a package.
type goTest struct {
	said
	end           string // pass, fail or skip
	paused        bool
	parent, fails bool // has subtests; one of them fails
	failedBuild   string
}

var (
	goEventLine = lazyregexp.New(`^\{"(Time|ImportPath|Action)":.*"Action":"`)
	goNoise     = lazyregexp.New(`^(=== (RUN|PAUSE|CONT|NAME) |\s*--- (FAIL|PASS|SKIP): \S+ \([\d.]+s\)$)`)
)

// Write never fails.
func (g *goEvents) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		head, after, whole := bytes.Cut(rest, []byte("\n"))
		g.line = append(g.line, head[:min(len(head), maxEvent-len(g.line))]...)
		if whole {
			g.parse(g.line)
			g.line = g.line[:0]
		}
		rest = after
	}
	return len(p), nil
}

func (g *goEvents) parse(line []byte) {
	var e goEvent
	if !goEventLine.Match(line) || json.Unmarshal(line, &e) != nil {
		return
	}
	if g.packages == nil {
		g.builds, g.packages = map[string]*said{}, map[string]map[string]*goTest{}
	}
	if e.Action == "build-output" {
		if g.builds[e.ImportPath] == nil {
			g.builds[e.ImportPath] = new(said)
		}
		g.builds[e.ImportPath].add(e.Output)
	}
	if e.Package == "" {
		return
	}
	tests := g.packages[e.Package]
	if tests == nil {
		tests = map[string]*goTest{"": {}}
		g.packages[e.Package] = tests
	}
	if tests[e.Test] == nil {
		tests[e.Test] = new(goTest)
	}
	tests[e.Test].see(e)
}

func (t *goTest) see(e goEvent) {
	switch e.Action {
	case "output":
		if !goNoise.MatchString(strings.TrimRight(e.Output, "\n")) {
			t.add(e.Output)
		}
	case "pause":
		t.paused = true
	case "cont":
		t.paused = false
	case "pass", "fail", "skip":
		if t.end, t.failedBuild = e.Action, e.FailedBuild; t.end != "fail" {
			t.said = said{}
		}
	}
}

// report counts the tests that have no subtests. A test without an end event has
// failed if its package has failed or ended is false.
func (g *goEvents) report(ended bool) (r report) {
	for _, pkg := range slices.Sorted(maps.Keys(g.packages)) {
		r = r.add(goPackage(pkg, g.packages[pkg], g.builds, ended))
	}
	return r
}

func goPackage(pkg string, tests map[string]*goTest, builds map[string]*said, ended bool) report {
	r := report{counted: true}
	whole := tests[""]
	cut := whole.end == "fail" || whole.end == "" && !ended
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(tests))) { // subtests before their parents
		if name == "" {
			continue
		}
		t := tests[name]
		failed := t.end == "fail" || t.end == "" && cut && !t.paused
		if i := strings.LastIndexByte(name, '/'); i > 0 && tests[name[:i]] != nil {
			above := tests[name[:i]]
			above.parent = true
			above.fails = above.fails || failed || t.fails
		}
		full := pkg + "." + name
		switch {
		case failed && !t.fails:
			f := failure{name: full, output: t.String()}
			if t.end == "" && !strings.Contains(f.output, "panic: ") {
				f.cause = verdict.Unknown // its process ended before it did
			}
			r.failures = append(r.failures, f)
		case t.fails:
			r.others = append(r.others, verdict.Test{Name: full, Outcome: verdict.Fail, Cause: verdict.Assertion})
		case t.end == "pass":
			r.pass(full)
			if !t.parent {
				r.passed++
			}
		case t.end == "skip":
			r.skip(full)
			if !t.parent {
				r.skipped++
			}
		}
	}
	if whole.end == "fail" && len(r.failures) == 0 {
		f := failure{name: pkg, output: whole.String(), cause: verdict.Unknown}
		if b := builds[whole.failedBuild]; b != nil {
			f.output = b.String()
		}
		if strings.Contains(whole.String(), " [build failed]") || strings.Contains(whole.String(), " [setup failed]") {
			f.name += " (build failed)"
			f.cause = verdict.Compile
		}
		r.failures = append(r.failures, f)
	}
	return r
}

// said is the beginning and the end of a test's output.
type said struct{ head, tail []byte }

func (s *said) add(output string) {
	n := min(len(output), maxTestSaid-len(s.head))
	s.head = append(s.head, output[:n]...)
	s.tail = append(s.tail, output[n:]...)
	if over := len(s.tail) - 2*maxTestSaid; over > 0 {
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-maxTestSaid:]...)
	}
}

func (s *said) String() string { return string(s.head) + string(s.tail) }

// withoutEvents returns the output without the lines of go test -json.
func withoutEvents(out string) string {
	var kept strings.Builder
	for line := range strings.Lines(out) {
		if !goEventLine.MatchString(line) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
